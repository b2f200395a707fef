"""Django: rows, time and the live page around the engine."""
