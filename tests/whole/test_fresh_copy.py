"""A fresh copy starts by its one command, with nothing but the runtime lock."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.services.default_run import ROOT, DefaultRun, wait_for

MADE_HERE = (
    *(".venv", "node_modules", "var", "mutants", ".git", "__pycache__"),
    *(".*_cache", ".hypothesis", ".schemathesis"),
)


class Copy(DefaultRun):
    """A default run built from a copy of the tree, by the verb that users type."""

    command = ("./dev", "run")

    def __init__(self, folder):
        # Where packages come from is the machine's matter: its variables stay.
        kept = {k: v for k, v in os.environ.items() if not k.startswith("DJANGO")}
        super().__init__(folder, **kept | {"QUOTALAB_DATA": str(folder / "data")})
        self.root = folder / "copy"
        shutil.copytree(ROOT, self.root, ignore=shutil.ignore_patterns(*MADE_HERE))


@pytest.fixture
def copy(tmp_path):
    with Copy(tmp_path) as running:
        yield running


def test_a_fresh_copy_comes_up_whole_and_the_second_time_at_once(copy):
    assert copy.get("/readyz") == {"database": "ok", "bus": "ok", "disk": "ok"}
    wait_for(lambda: copy.child("py worker").children(), "the worker's pool")
    assert "Installing requirements.txt" in copy.says()
    assert "Traceback" not in copy.says()
    assert copy.end() == 0
    with copy:
        assert "Installing" not in copy.says()
