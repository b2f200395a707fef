"""`manage.py experiment` as people and pipelines run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.sandbox.experiments.conftest import document_of, world_text

ROOT = Path(__file__).resolve().parents[3]


def run(folder: Path, *words: str, **spec: Any) -> subprocess.CompletedProcess[str]:
    (folder / "world.yaml").write_text(world_text())
    (folder / "experiment.yaml").write_text(yaml.safe_dump(document_of(**spec)))
    command = [sys.executable, "manage.py", "experiment"]
    return subprocess.run(
        [*command, str(folder / "experiment.yaml"), "--workers", "2", *words],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "QUOTALAB_DATA": str(folder / "data")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_assertions_that_hold_are_a_success(tmp_path):
    done = run(tmp_path, assertions=[{"measure": "waitMaxMs", "max": 10_000_000}])
    assert done.returncode == 0, done.stderr
    assert "usual" in done.stdout


def test_bad_input_is_named_by_file_and_line(tmp_path):
    done = run(tmp_path, seeds=[])
    assert done.returncode == 2
    assert "experiment.yaml:" in done.stderr


def test_json_is_printed_alone_and_an_assertion_that_fails_is_the_exit_status(tmp_path):
    never = [{"measure": "waitMaxMs", "max": -1}]
    world = {"base": {"scenario": "friday-rush"}, "horizon": "20s"}
    done = run(tmp_path, "--json", assertions=never, **world)
    assert json.loads(done.stdout)["variants"] == ["usual", "double"]
    assert done.returncode == 1, done.stderr
