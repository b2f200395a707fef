"""Builds the wheels: of the client, and of everything. PEP 517, by setuptools.

Two modules of the client are made of the server's schema. `./dev setup` makes them;
where they are missing the build does, for which pip installs the server's libraries
beside the build. A source distribution has them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403 - what is asked for besides

CLIENT = Path(__file__).parents[1]
ROOT = CLIENT.parents[1]


def _is_made() -> bool:
    names = ("records.py", "operations.py")
    return all((CLIENT / name).exists() for name in names)


def _make() -> None:
    """Make the two modules, in a data folder that goes: a start draws a secret there."""
    command = [sys.executable, str(ROOT / "manage.py"), "apitypes", "--client"]
    with tempfile.TemporaryDirectory() as folder:
        alone = {n: v for n, v in os.environ.items() if n != "DATABASE_URL"}
        alone["QUOTALAB_DATA"] = folder
        subprocess.run(command, check=True, env=alone)


def _with_libraries(hook: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """Return a hook that asks for the server's libraries where they are needed."""

    @wraps(hook)
    def asked(*given: Any) -> list[str]:
        wanted = hook(*given)
        if not _is_made():
            lines = (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
            wanted += [line for line in lines if line and not line.startswith("#")]
        return wanted

    return asked


def _after_making(hook: Callable[..., str]) -> Callable[..., str]:
    """Return a hook that makes the two modules first where they are missing."""

    @wraps(hook)
    def built(*given: Any, **named: Any) -> str:
        if not _is_made():
            _make()
        return hook(*given, **named)

    return built


get_requires_for_build_wheel = _with_libraries(build_meta.get_requires_for_build_wheel)
get_requires_for_build_sdist = _with_libraries(build_meta.get_requires_for_build_sdist)
get_requires_for_build_editable = _with_libraries(
    build_meta.get_requires_for_build_editable
)
build_wheel = _after_making(build_meta.build_wheel)
build_sdist = _after_making(build_meta.build_sdist)
build_editable = _after_making(build_meta.build_editable)
