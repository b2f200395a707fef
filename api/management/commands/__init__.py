"""The commands of this package."""

from __future__ import annotations
