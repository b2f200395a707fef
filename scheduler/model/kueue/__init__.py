"""Kueue's objects and Configuration: what their fields mean."""
