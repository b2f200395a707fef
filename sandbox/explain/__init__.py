"""Answers about a sandbox: why, what if, comparisons, smallest reproductions."""

from __future__ import annotations
