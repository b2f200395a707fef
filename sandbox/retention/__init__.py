"""How long history is stored; archives, restoring, exports."""

from __future__ import annotations
