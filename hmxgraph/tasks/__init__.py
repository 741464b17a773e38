"""memd's rules for shared work: which step may follow which, what is trusted, what digests and searches show."""
