"""The last line of `run`: what failed and what was refused is not told as done."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.cli import run
from tests.builders import job, node, pod

FEW = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "few", "namespace": "default"},
    "spec": {"hard": {"pods": "0"}},
}


def overdue() -> dict[str, Any]:
    """Return a Job that fails at its deadline, before it has a pod."""
    made = job("late")
    made["spec"]["activeDeadlineSeconds"] = 5
    return made


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (
            [pod("p", **{"fails-after": "5s"}), pod("q", runtime="5s")],
            "2 finished (1 failed)",
        ),
        ([FEW, overdue()], "0 finished, 0 preem"),
        ([FEW, job("mine")], "pods of 1 refused (FailedCreate)"),
        ([pod("q", runtime="5s")], "1 finished, 0 preempted, median"),
    ],
)
def test_the_last_line_says_what_failed_and_what_was_refused(
    work: list[dict[str, Any]], said: str, tmp_path: Path
) -> None:
    world, out = tmp_path / "world.yaml", io.StringIO()
    world.write_text(yaml.safe_dump_all([node("n"), *work]))
    run.main([str(world), "--until", "1m", "--stack", "kube"], out)
    assert said in out.getvalue().strip().splitlines()[-1]
