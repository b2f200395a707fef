"""Devices: what is known of claims, classes and slices, and who has which device."""
