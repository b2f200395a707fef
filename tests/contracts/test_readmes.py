"""The READMEs lead: each names the files beside it, and to every file of the tour."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted(
    path.parent
    for top in ("sandbox", "api")
    for path in (ROOT / top).glob("*/README.md")
)
TOUR = re.findall(
    r"^\| [^|]+\? \| `([^`]+)` \|$",
    (ROOT / "CONTRIBUTING.md").read_text(),
    re.MULTILINE,
)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_package_names_each_of_its_files_once(package):
    text = (package / "README.md").read_text()
    named = re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)
    modules = [p.name for p in package.glob("*.py") if p.name != "__init__.py"]
    folders = [
        f"{p.parent.name}/"
        for p in package.glob("*/__init__.py")
        if f"`{p.parent.name}/`" not in text.split("In reading order")[0]
    ]
    assert sorted(named) == sorted([*modules, *folders])


def test_the_tour_has_twelve_questions():
    assert len(TOUR) == 12


@pytest.mark.parametrize("file", TOUR)
def test_a_readme_above_each_file_of_the_tour_names_it(file):
    path = ROOT / file
    assert path.is_file()
    above = [parent / "README.md" for parent in path.parents if ROOT in parent.parents]
    assert any(path.name in readme.read_text() for readme in above if readme.exists())
