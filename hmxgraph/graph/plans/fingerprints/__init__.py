"""Fingerprints made, received, and confirmed by what a tenant sees for itself."""
