"""Kueue's objects and Configuration: what their fields mean."""

from __future__ import annotations
