"""What is known beside events, valued by the question: artifacts, memories, records, entities; hints and rules."""
