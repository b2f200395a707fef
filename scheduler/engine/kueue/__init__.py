"""Kueue: who gets quota, who waits, who is evicted for whom."""

from __future__ import annotations
