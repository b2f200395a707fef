"""Sandboxes that show a real cluster: what was recorded of it, or what happens there now."""
