"""Events by how well they answer: their words and their neighbours', cues, feedback and a walk over shared entities."""
