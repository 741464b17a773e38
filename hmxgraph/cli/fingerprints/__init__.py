"""Commands on fingerprints, their files and tables."""
