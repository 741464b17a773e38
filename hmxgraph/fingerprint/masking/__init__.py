"""What must not travel, found and masked: secrets by their name, their place, their shape, and personal data."""
