"""Questions that are run: asked by a web process, worked out by a worker."""

from __future__ import annotations
