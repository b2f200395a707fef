"""The engine: world in, decisions out; plain Python that touches nothing."""

from __future__ import annotations

from scheduler.engine.compiled.finder import find_compiled

#: Whether compiled modules run, or why plain Python does.
ENGINE = find_compiled()
