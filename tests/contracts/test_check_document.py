"""docs/check.md says what is: its example and the scripts of its pipelines are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.analysis.check.assertions import read_assertions

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/check.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "docs/examples/check"


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    return [text for word, text in found if word == language]


def pipelines() -> list[dict[str, Any]]:
    return [yaml.safe_load(text) for text in blocks("yaml")]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "quotalab"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m api "$@"\n')
    script.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone whose branch changes the queues of its origin's main."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    shutil.copytree(EXAMPLE / "base", origin / "queues")
    for name in ("work.yaml", "assertions.yaml"):
        shutil.copy(EXAMPLE / name, origin)
    who = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "."),
        (*who, "commit", "-qm", "queues"),
        ("clone", "-q", ".", str(clone)),
    ):
        subprocess.run(["git", *words], cwd=origin, check=True)
    shutil.copytree(EXAMPLE / "changed", clone / "queues", dirs_exist_ok=True)
    return clone


def fails_with_reports(script: str, checkout: Path, given: dict[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=checkout,
        env=given,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert "2 of 4 assertions do not hold" in (checkout / "comment.md").read_text()
    assert 'failures="2"' in (checkout / "check.xml").read_text()


def test_the_first_example_says_what_the_document_shows(environment):
    done = subprocess.run(
        ["bash", "-c", blocks("sh")[0]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    shown = next(text for text in blocks("") if text.startswith("### Policy check"))
    assert shown in done.stdout


def test_the_assertions_of_the_document_are_understood():
    text = next(text for text in blocks("yaml") if text.startswith("assertions:"))
    assert len(read_assertions(text, "a.yaml")) == 7


def test_the_script_for_github_checks_a_branch(environment, checkout):
    found = next(one for one in pipelines() if "jobs" in one)
    steps = {step.get("id"): step for step in found["jobs"]["check"]["steps"]}
    summary = checkout.parent / "summary.md"
    given = {"GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(summary)}
    fails_with_reports(steps["check"]["run"], checkout, {**environment, **given})
    assert '"uri": "queues/queues.yaml"' in (checkout / "check.sarif").read_text()
    assert summary.read_text() == (checkout / "comment.md").read_text()


def test_the_script_for_gitlab_checks_a_branch(environment, checkout):
    found = next(one for one in pipelines() if "policy" in one)
    given = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    script = "\n".join(found["policy"]["script"])
    fails_with_reports(script, checkout, {**environment, **given})
