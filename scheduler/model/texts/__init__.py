"""Texts to plain data, with the places where it stands."""
