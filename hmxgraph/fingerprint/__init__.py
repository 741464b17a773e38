"""Fingerprints (HMX-F): learned state for sharing; generate, mask, sign, verify, restore. Pure functions, no I/O."""
