"""Convert other producers' records into HMX-E events: one pure module per format."""
