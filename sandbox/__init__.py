"""Django: rows, time and the live page around the engine."""

from __future__ import annotations
