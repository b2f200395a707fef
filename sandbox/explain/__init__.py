"""Answers about a sandbox: why, what if, comparisons, smallest reproductions."""
