"""What is foreseen: the actions that a request will take, and what agents do next, as weights learnt from sessions."""
