"""One admission cycle: nominate the heads, order them, admit or preempt."""

from __future__ import annotations
