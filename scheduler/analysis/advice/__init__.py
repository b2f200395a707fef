"""What should be set: the smallest change that reaches a goal, searched and proven."""

from __future__ import annotations
