"""Which fields the kinds have: to name a typing error, and what decides nothing."""
