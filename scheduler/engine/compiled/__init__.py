"""The engine's busiest modules as machine code, where they were built from these sources."""
