"""The policies of the documents, enrolled for each test here and gone after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler.model import registry

EXAMPLES = Path(__file__).parents[3] / "docs/examples/policies"


@pytest.fixture(autouse=True)
def enrol(monkeypatch):
    """Return what enrols a file or folder as the environment variable does."""
    registry.load()
    others = {k: v for k, v in registry._entries.items() if k[0] != "proposal"}
    monkeypatch.setattr(registry, "_entries", others)

    def by_variable(path: Path) -> None:
        monkeypatch.setenv(registry.FILES, str(path))
        monkeypatch.setattr(registry, "_loaded", registry._loaded - {registry.GROUP})
        registry.load()

    by_variable(EXAMPLES)
    return by_variable
