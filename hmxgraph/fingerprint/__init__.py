"""What was learned as a signed document that travels: made, masked, fitted to a size, checked (HMX-F). Pure."""
