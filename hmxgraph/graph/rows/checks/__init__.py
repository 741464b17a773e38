"""What a verification looks at: stored records against their hashes, links and counts."""
