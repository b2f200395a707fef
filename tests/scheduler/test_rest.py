"""Quota that goes round in a circle at one instant does not hold time up."""

from __future__ import annotations

from pathlib import Path

import sandbox
from scheduler.experiments.bases import FileBase
from scheduler.experiments.document import read_experiment
from scheduler.experiments.runs import plan, run

SCENARIO = Path(sandbox.__file__).parent / "scenarios" / "friday-rush"


def test_workloads_that_take_quota_from_each_other_in_turn_let_time_go_on() -> None:
    files = [(file.name, file.read_text()) for file in sorted(SCENARIO.iterdir())]
    base = FileBase.read(files)
    spec = {
        "base": {"scenario": "friday-rush"},
        "horizon": "60s",
        "seeds": [1],
        "variants": [{"name": "a rush", "arrivals": 1.5}],
    }
    todo = plan(read_experiment({"spec": spec}).spec, base)
    found = run(base, todo, 0, 1)
    assert found.end_ms == 60_000
    assert any("in turn at one instant" in problem for problem in found.problems)
