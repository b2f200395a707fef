"""Worlds of sandboxes: read from rows, changed by operations, committed, with history."""
