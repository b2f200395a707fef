"""What the controllers do between cycles: objects, conditions, evictions, status."""

from __future__ import annotations
