"""docs/plan.md says what is: its example and the scripts of its pipelines are run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.analysis.plan.assertions import read_assertions

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/plan.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "docs/examples/plan"


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    return [text for word, text in found if word == language]


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


def runs(script: str, checkout: Path, given: dict[str, str]) -> int:
    """Run a script as a pipeline does and return its status."""
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=checkout,
        env=given,
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.returncode


def has_reports(checkout: Path) -> None:
    folder = checkout / "quotalab-plan"
    assert "2 of 4 assertions do not hold" in (folder / "comment.md").read_text()
    assert 'failures="2"' in (folder / "report.xml").read_text()
    assert json.loads((folder / "result.json").read_text())["holds"] is False


def test_the_first_example_says_what_the_document_shows(environment):
    done = subprocess.run(
        ["bash", "-c", blocks("sh")[0]],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    shown = next(text for text in blocks("") if text.startswith("### Policy plan"))
    assert shown in done.stdout


def test_the_assertions_of_the_document_are_understood():
    text = next(text for text in blocks("yaml") if text.startswith("assertions:"))
    assert len(read_assertions(text, "a.yaml")) == 7


INPUTS = {"policy": "queues", "work": "work.yaml", "assertions": "assertions.yaml"}


def filled(inputs: dict[str, Any], given: dict[str, str]) -> dict[str, str]:
    """Return every input: what is given, else its default. Refuses what is neither."""
    assert not set(given) - set(inputs)
    return {name: given.get(name, one.get("default")) for name, one in inputs.items()}


def test_the_action_plans_what_a_branch_changed(environment, checkout):
    action = yaml.safe_load((ROOT / ".github/actions/plan/action.yml").read_text())
    [step] = [s for s in action["runs"]["steps"] if s.get("id") == "plan"]
    inputs = filled(action["inputs"], INPUTS)
    summary, output = checkout.parent / "summary.md", checkout.parent / "output"
    given = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: inputs[m[1]], text)
        for name, text in step["env"].items()
    } | {
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_OUTPUT": str(output),
    }
    assert runs(step["run"], checkout, {**environment, **given}) == 1
    has_reports(checkout)
    sarif = (checkout / "quotalab-plan/plan.sarif").read_text()
    assert '"uri": "queues/queues.yaml"' in sarif
    assert summary.read_text() == (checkout / "quotalab-plan/comment.md").read_text()
    assert (checkout / output.read_text().strip().partition("=")[2]).is_file()


def test_the_component_plans_what_a_branch_changed(environment, checkout):
    header, jobs = yaml.safe_load_all((ROOT / "templates/plan.yml").read_text())
    inputs = filled(header["spec"]["inputs"], INPUTS)
    job = jobs["quotalab-plan"]
    given = {
        name: re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda m: inputs[m[1]], text)
        for name, text in job["variables"].items()
    } | {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
    script = "\n".join(job["script"])
    assert runs(script, checkout, {**environment, **given}) == 1
    has_reports(checkout)


def test_the_hook_plans_what_is_to_be_committed(environment, checkout):
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    [used] = next(
        yaml.safe_load(text)["repos"][0]["hooks"]
        for text in blocks("yaml")
        if text.startswith("repos:")
    )
    assert used["id"] == hook["id"]
    assert (
        runs(shlex.join([*hook["entry"].split(), *used["args"]]), checkout, environment)
        == 1
    )


def test_the_document_gives_the_inputs_that_there_are():
    action = yaml.safe_load((ROOT / ".github/actions/plan/action.yml").read_text())
    header, _ = yaml.safe_load_all((ROOT / "templates/plan.yml").read_text())
    shown = [yaml.safe_load(text) for text in blocks("yaml")]
    [job] = [one["jobs"]["plan"] for one in shown if "jobs" in one]
    [given] = [s["with"] for s in job["steps"] if "quotalab" in s.get("uses", "")]
    assert filled(action["inputs"], given)["policy"] == "queues"
    [included] = [one["include"][0] for one in shown if "include" in one]
    assert filled(header["spec"]["inputs"], included["inputs"])["policy"] == "queues"
