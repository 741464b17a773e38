"""Fingerprints: learned state as a signed document, generated, masked, limited in size and verified (HMX-F). Pure."""
