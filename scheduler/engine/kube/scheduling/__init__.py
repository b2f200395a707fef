"""One scheduler: the scheduling cycle, binding cycles, what wakes waiting pods."""

from __future__ import annotations
