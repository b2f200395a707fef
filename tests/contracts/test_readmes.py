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
ENGINE = sorted((ROOT / "scheduler").glob("**/README.md"))
#: One file per thing that is enrolled; the registry lists them.
ENROLLED = {
    "plugins",
    "strategies",
    "sorting",
    "laws",
    "arrivals",
    "jobs",
    "training",
    "ray",
}
TOUR = re.findall(
    r"^\| [^|]+\? \| `([^`]+)` \|$",
    (ROOT / "CONTRIBUTING.md").read_text(),
    re.MULTILINE,
)


def files_of(folder: Path) -> list[Path]:
    """The modules a README is about: beside it, and below it in a scheduler's own."""
    found = folder.glob("*.py" if folder == ROOT / "scheduler" else "**/*.py")
    return [
        p for p in found if p.name != "__init__.py" and p.parent.name not in ENROLLED
    ]


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


def test_each_package_has_a_readme():
    packages = [p.parent for t in ("scheduler", "sandbox", "api")
                for p in (ROOT / t).glob("*/__init__.py")]  # fmt: skip
    without = [p for p in packages if not (p / "README.md").exists()]
    assert [p.name for p in without if p.name not in {"management", "migrations"}] == []


@pytest.mark.parametrize("readme", ENGINE, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_readme_of_the_engine_names_every_file_it_is_about(readme):
    text = readme.read_text()
    unnamed = [str(p) for p in files_of(readme.parent) if f"{p.name}`" not in text]
    assert unnamed == []


def test_the_readme_of_the_engine_names_its_packages():
    text = (ROOT / "scheduler" / "README.md").read_text()
    found = (ROOT / "scheduler").iterdir()
    names = [f"{p.name}/" for p in found if (p / "__init__.py").exists()]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_the_tour_has_twelve_questions():
    assert len(TOUR) == 12


@pytest.mark.parametrize("file", TOUR)
def test_a_readme_above_each_file_of_the_tour_names_it(file):
    path = ROOT / file
    assert path.is_file()
    above = [parent / "README.md" for parent in path.parents if ROOT in parent.parents]
    assert any(path.name in readme.read_text() for readme in above if readme.exists())
