"""What an event gives to remember: orders, rules taken back, preferences, stated facts, aims, changes of state."""
