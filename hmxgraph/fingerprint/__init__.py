"""Fingerprints: learned state as a document to share: generated, masked, limited in size, signed, verified (HMX-F)."""
