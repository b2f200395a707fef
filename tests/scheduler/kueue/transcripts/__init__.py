"""Runs of the engine kept word by word: decisions, statuses, stored state, steps of searches."""
