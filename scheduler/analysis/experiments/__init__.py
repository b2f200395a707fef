"""Experiments: variants x seeds of one beginning, each run to a horizon and compared."""
