"""Real services for tests: PostgreSQL, a bus, the whole default run, a browser."""
