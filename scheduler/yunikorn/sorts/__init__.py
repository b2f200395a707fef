"""Sorting policies, one file each; every file enrols itself."""

from __future__ import annotations
