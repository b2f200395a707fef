"""Kueue: which workloads get quota, wait, or are evicted for others."""

from __future__ import annotations
