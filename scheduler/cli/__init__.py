"""The commands that work on files; `verbs.py` lists them."""

from __future__ import annotations
