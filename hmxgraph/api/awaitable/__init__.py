"""The front door for asynchronous code: the twins of ``knowledge.plain``, file by file."""
