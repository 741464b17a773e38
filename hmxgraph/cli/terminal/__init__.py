"""How every command talks: options that all have, tables, pipes, interruptions, empty answers."""
