"""Other producers' records as HMX-E events: one pure module per format."""
