"""What an event speaks of: names by their form, their field or their capitals, and how these stand to each other."""
