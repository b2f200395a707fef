"""The project's words are the field's, and its folders stay small enough to read."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACES = ("scheduler", "sandbox", "api", "frontend/src", "docs")
PAGES = ("README.md", "CONTRIBUTING.md")
KINDS = {".py", ".md", ".ts", ".svelte", ".css", ".yaml", ".html", ".ipynb"}
#: Pictures of a thing for the thing: what is reported, recorded, returned, an API.
METAPHORS = re.compile(r"\b(desk|house|told|tell|doors?)\b", re.IGNORECASE)
MOST_FILES = 22
#: One file per thing that is enrolled: such a folder grows with the field.
PLUGINS = {"scheduler/manifests/jobs", "scheduler/kube/plugins"}


def texts() -> list[Path]:
    found = [path for place in PLACES for path in (ROOT / place).rglob("*")]
    found += [ROOT / name for name in PAGES]
    return [path for path in found if path.suffix in KINDS]


def test_no_metaphor_stands_for_a_word_of_the_field():
    lines = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in texts()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if METAPHORS.search(line)
    ]
    assert lines == []


def test_a_package_has_no_more_files_than_one_can_read():
    folders = Counter(
        str(path.parent.relative_to(ROOT))
        for place in ("scheduler", "sandbox", "api")
        for path in (ROOT / place).rglob("*.py")
        if "migrations" not in path.parts
    )
    assert {
        folder: count
        for folder, count in folders.items()
        if count > MOST_FILES and folder not in PLUGINS
    } == {}
