"""The engine: world in, decisions out; plain Python that touches nothing."""

from __future__ import annotations
