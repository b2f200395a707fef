"""Forecasts: when each waiting workload starts, from many seeded futures, and how often that was right."""
