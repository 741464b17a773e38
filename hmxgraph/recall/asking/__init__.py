"""What is asked: the request, the question in its words, and the time that it names."""
