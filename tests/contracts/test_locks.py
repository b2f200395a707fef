"""Lock files pin by hash and name no registry: they work behind any mirror."""

from __future__ import annotations

import json
import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PYTHON_LOCKS = sorted(ROOT.glob("requirements*.txt"))
PAGE_LOCK = ROOT / "frontend" / "package-lock.json"


@pytest.mark.parametrize("lock", PYTHON_LOCKS, ids=lambda lock: lock.name)
def test_a_python_lock_holds_no_address(lock):
    assert "://" not in lock.read_text()
    assert "--index-url" not in lock.read_text()


@pytest.mark.parametrize("lock", PYTHON_LOCKS, ids=lambda lock: lock.name)
def test_every_python_package_is_pinned_by_hash(lock):
    entries = re.split(r"\n(?=\w)", lock.read_text().strip())
    loose = [entry for entry in entries if "==" not in entry or "sha256:" not in entry]
    assert loose == []


def test_the_page_lock_holds_no_registry_address():
    packages = json.loads(PAGE_LOCK.read_text())["packages"]
    assert [name for name, entry in packages.items() if "resolved" in entry] == []


def test_every_page_package_is_pinned_by_hash():
    packages = json.loads(PAGE_LOCK.read_text())["packages"]
    assert [n for n, entry in packages.items() if n and "integrity" not in entry] == []


#: Licences whose terms an Apache-2.0 project can meet: by keeping notices, and for
#: MPL and LGPL because those packages are used as they are.
WELCOME = (
    "0BSD",
    "Apache",
    "BSD",
    "BlueOak-1.0.0",
    "CC0-1.0",
    "ISC",
    "LGPL-3.0-only",
    "MIT",
    "MPL-2.0",
    "Mozilla Public License 2.0",
    "PSF-2.0",
    "Python Software Foundation License",
    "Python-2.0",
    "Zlib",
)
#: Says nothing in its metadata; its repository has the MIT licence.
SILENT = {"axe-playwright-python"}


def here(lock: Path) -> list[Requirement]:
    """The packages of a lock that this machine installs."""
    entries = re.split(r"\n(?=\w)", lock.read_text().strip())
    found = [Requirement(entry.split("\\")[0].strip()) for entry in entries]
    return [one for one in found if one.marker is None or one.marker.evaluate()]


USED = [lock for lock in PYTHON_LOCKS if lock.stem.endswith(("requirements", "test"))]


@pytest.mark.parametrize("lock", USED, ids=lambda lock: lock.name)
def test_what_runs_here_is_what_was_locked(lock):
    other = [
        f"{one} is {metadata.version(one.name)}"
        for one in here(lock)
        if not one.specifier.contains(metadata.version(one.name), prereleases=True)
    ]
    assert other == []


@pytest.mark.parametrize("lock", USED, ids=lambda lock: lock.name)
def test_every_python_package_has_a_licence_that_is_welcome(lock):
    strange = {one.name: licence_of(one.name) for one in here(lock)}
    strange = {
        name: said
        for name, said in strange.items()
        if not welcome(said) and name not in SILENT
    }
    assert strange == {}


def licence_of(name: str) -> str:
    about = metadata.metadata(name)
    classified = [
        words.rpartition("::")[2].strip()
        for words in about.get_all("Classifier", [])
        if words.startswith("License ::")
    ]
    return about.get("License-Expression") or " OR ".join(classified) or _first(about)


def _first(about: metadata.PackageMetadata) -> str:
    return (about.get("License") or "").partition("\n")[0]


def welcome(said: str) -> bool:
    """Return whether some way of taking it is welcome: one of OR, all of AND."""
    ways = [way.split(" AND ") for way in re.split(r" OR |;", said)]
    return any(
        all(part.strip("() ").startswith(WELCOME) for part in way) for way in ways
    )


def test_a_licence_that_binds_is_not_welcome():
    assert not welcome("GPL-3.0-only")
    assert not welcome("MIT AND AGPL-3.0-only")
    assert not welcome("")
    assert welcome("AGPL-3.0-only OR MIT")


def test_every_page_package_has_a_licence_that_is_welcome():
    packages = json.loads(PAGE_LOCK.read_text())["packages"]
    said = {name: entry.get("license", "") for name, entry in packages.items()}
    assert {name: words for name, words in said.items() if not welcome(words)} == {}
