"""docs/api.md and the notebook say what is: their examples are run, as they stand."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

import api.client
from tests.builders import cluster_queue, flavor, job, local_queue
from tests.services.default_run import ROOT, DefaultRun

DOCUMENT = ROOT / "docs/api.md"
EXAMPLES = ROOT / "docs/examples"
_BLOCK = re.compile(r"^```(\w+)( \w+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[tuple[str, str]]:
    """Return (what it needs, text) of the blocks of a language, in order."""
    found = _BLOCK.findall(DOCUMENT.read_text(encoding="utf-8"))
    return [(needs.strip(), text) for word, needs, text in found if word == language]


@pytest.fixture
def environment(shared_run: DefaultRun, tmp_path: Path) -> dict[str, str]:
    """What the examples find: the address, and `quotalab` and `python3` on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, words in (("quotalab", "-m api"), ("python3", "")):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        script.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "KUBECONFIG": "",
        "QUOTALAB_SERVER": shared_run.url,
        "API": f"{shared_run.url}/api/v1",
    }


def test_every_example_for_a_shell_works_in_one_shell(environment, tmp_path):
    if not shutil.which("curl"):
        pytest.skip("no curl on PATH")
    parts = ["set -eu -o pipefail"]
    for needs, text in blocks("sh"):
        if needs and not shutil.which(needs):
            continue
        parts.append(text)
    script = "\n".join(parts).replace("| head -", "| head_ -")
    # A reader that stops early must not fail the one that still writes.
    script = 'head_() { cat > .all; head "$@" .all; }\n' + script
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]


def test_every_example_in_python_works(environment, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "quotalab", api)
    monkeypatch.setitem(sys.modules, "quotalab.client", api.client)
    monkeypatch.setenv("QUOTALAB_SERVER", environment["QUOTALAB_SERVER"])
    names: dict[str, Any] = {}
    for _, text in blocks("python"):
        exec(compile(text, str(DOCUMENT), "exec"), names)
    assert "404 NotFound" in capsys.readouterr().out


def test_the_notebook_runs_from_its_first_cell_to_its_last(environment, monkeypatch):
    path = EXAMPLES / "quotalab.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    monkeypatch.setenv("QUOTALAB_SERVER", environment["QUOTALAB_SERVER"])
    monkeypatch.chdir(EXAMPLES)
    names: dict[str, Any] = {}
    for cell in cells:
        assert cell["cell_type"] in ("markdown", "code")
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    assert len(names["runs"]) == 6
    assert names["fair"].verdict().differs


@pytest.mark.parametrize(
    ("name", "most"), [("five_tasks.py", 8), ("five_tasks_rest.py", 15)]
)
def test_five_tasks_are_done_in_a_few_lines_each(
    shared_run, environment, tmp_path, name, most
):
    world = world_of_tasks(tmp_path)
    given = [str(world)] if most == 8 else [shared_run.url, str(world)]
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *given],
        env={**environment, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sweep.csv").stat().st_size > 0
    tree = ast.parse((EXAMPLES / name).read_text())
    lines = {
        one.name: len(
            {
                at.lineno
                for part in one.body[1:]  # without its docstring
                for at in ast.walk(part)
                if isinstance(at, ast.expr | ast.stmt)
            }
        )
        for one in tree.body
        if isinstance(one, ast.FunctionDef)
    }
    assert max(lines.values()) <= most, lines


def world_of_tasks(folder: Path) -> Path:
    """Write two queues of a cohort, and five jobs in one of them."""
    queues = [one for n in "ab" for one in queue_of(n)]
    jobs = [job(f"train-{n}", queue="a", cpu="3", runtime="30s") for n in range(5)]
    path = folder / "world.yaml"
    path.write_text(yaml.safe_dump_all([flavor(), *queues, *jobs]))
    return path


def queue_of(name: str) -> list[dict[str, Any]]:
    return [
        cluster_queue(name, cpu="4", cohort="all"),
        local_queue(name, cluster_queue=name),
    ]


@pytest.mark.parametrize("name", ["smallest_world.py", "watch_queue.py"])
def test_a_script_runs_against_a_default_run(shared_run, environment, name):
    request = urllib.request.Request(
        f"{shared_run.url}/api/v1/sandboxes",
        data=json.dumps({"scenario": "classical-reclaim"}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        key = json.load(answer)["id"]
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), shared_run.url, key],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
