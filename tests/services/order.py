"""Files that start processes go first, then those of many tests: short ones fill the end.

`./dev test` gives whole files to the workers of pytest-xdist, in this order.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

#: Fixtures that start a server, a browser or a database.
FIXTURES = {
    "bench_run",
    "browser",
    "built",
    "copy",
    "default_run",
    "impatient",
    "mending",
    "one",
    "postgres",
    "server_run",
    "shared_run",
    "wheel",
}


#: What a file says that starts processes by itself.
WORDS = ("subprocess", "DefaultRun", "launched")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort by file alone: within a file, and among equal ones, the order stays."""
    starting = {item.path for item in items if FIXTURES & set(_fixtures(item))}
    starting |= {path for path in {item.path for item in items} if _names_a_start(path)}
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path not in starting, -tests[item.path]))


def _fixtures(item: pytest.Item) -> list[str]:
    return list(getattr(item, "fixturenames", ()))


def _names_a_start(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return any(word in text for word in WORDS)
