"""Rules of task records, which agents share their work with (the memd specification). Pure functions, no I/O."""
