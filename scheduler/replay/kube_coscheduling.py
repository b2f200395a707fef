"""Coscheduling vectors: gangs over virtual time, through the stage itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def show(given: Mapping[str, Any], expected: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return what the real one did over time and what we do."""
    raise NotImplementedError
