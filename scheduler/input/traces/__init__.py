"""Traces of real machines: their lines, the jobs these become, what is left out."""
