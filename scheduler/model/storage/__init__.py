"""Storage as the documents give it: claims, volumes, classes, CSI nodes."""

from __future__ import annotations
