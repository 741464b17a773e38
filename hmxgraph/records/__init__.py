"""Rules for task records, by which agents share their work (memd specification). Pure functions, no I/O."""
