"""Preemption: dry runs on copies of nodes."""

from __future__ import annotations
