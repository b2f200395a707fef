"""Lock files pin by hash and name no registry: they work behind any mirror."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

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
