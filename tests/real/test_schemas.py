"""The schemas are what Kubernetes and Kueue publish; only where Go has both, by ./dev soak."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.real import schemas

pytestmark = pytest.mark.soak


def modules() -> Path | None:
    """Return Go's module cache, where it has all three modules."""
    if (go := shutil.which("go")) is None:
        return None
    asked = [go, "env", "GOMODCACHE"]
    found = subprocess.run(
        asked, capture_output=True, text=True, check=True, env=os.environ
    )
    cache = Path(found.stdout.strip())
    return cache if all((cache / name).exists() for name in schemas.MODULES) else None


def test_every_field_is_as_it_is_published(capsys):
    if (cache := modules()) is None:
        pytest.skip(f"go mod download {' '.join(schemas.MODULES)}, which needs Go")
    assert (schemas.main(cache, check=True), capsys.readouterr().out) == (0, "")
