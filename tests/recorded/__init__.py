"""Recordings of real control planes, run again in the engine, and how near that comes."""
