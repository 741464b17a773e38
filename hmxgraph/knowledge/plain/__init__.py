"""The front door for plain code, in one file per subject."""
