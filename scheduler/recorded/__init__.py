"""Recordings of a real control plane: read, measured and run again."""
