"""How commands end: 0 good, 1 an assertion failed, 2 refused, 3 a fault of the program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scheduler.cli import statuses
from scheduler.model.errors import ManifestError, NoProgressError
from scheduler.model.sentence import plain
from tests.builders import job, small_cluster

ROOT = Path(__file__).resolve().parents[3]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scheduler", *words]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.fixture
def files(tmp_path):
    path = tmp_path / "world.yaml"
    jobs = [job(f"j{n}", queue="main", runtime="1s") for n in range(300)]
    text = "\n---\n".join(yaml.safe_dump(one) for one in [*small_cluster(), *jobs])
    path.write_text(text)
    return path


def test_what_is_refused_ends_with_2(tmp_path):
    assert run("run", str(tmp_path / "nothing.yaml")).returncode == 2


def test_a_reader_that_goes_away_is_no_fault(files):
    command = f"{sys.executable} -m scheduler run {files} | head -1"
    found = subprocess.run(
        command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.stderr == ""


def test_a_file_that_cannot_be_written_is_refused_before_the_work(files, tmp_path):
    found = run("run", str(files), "--record", str(tmp_path / "none" / "x.qrec"))
    assert found.returncode == 2
    assert "none/x.qrec" in found.stderr
    assert "Arrive" not in found.stdout


def test_trying_a_file_leaves_none_behind_and_changes_none(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("kept")
    statuses.try_to_write([kept, tmp_path / "new", None])
    assert kept.read_text() == "kept"
    assert not (tmp_path / "new").exists()


def fails() -> int:
    raise KeyError("x")


def test_what_nobody_foresaw_is_ours_and_says_where_to_go(capsys):
    assert statuses.ended(fails) == 3
    said = capsys.readouterr().err
    assert "KeyError" in said
    assert "Please report it" in said


@pytest.mark.parametrize(
    ("error", "status"), [(ManifestError(plain("x")), 2), (NoProgressError("x"), 3)]
)
def test_whose_fault_an_error_is(error, status):
    assert statuses.refused(error) == status
