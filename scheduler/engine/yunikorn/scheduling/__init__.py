"""The scheduling cycle: reservations, placeholders, then the normal pass."""
