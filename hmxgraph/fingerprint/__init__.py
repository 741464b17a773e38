"""Fingerprints: learned state to share, generated, masked, limited in size, signed and verified (HMX-F). Pure."""
