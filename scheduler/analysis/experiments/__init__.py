"""Experiments: variants x seeds of one beginning, each run to a horizon and compared."""

from __future__ import annotations
