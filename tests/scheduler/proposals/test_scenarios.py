"""The scenario of each policy of the documents: what it shows, no release does."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler.analysis.expectations import Verdict, judge
from scheduler.assembly import assemble
from scheduler.cli.run import read_sources
from scheduler.engine.tick import simulate
from scheduler.model import durations
from scheduler.model.policy import read_policy

FOLDER = Path(__file__).parents[3] / "docs/examples/policies"
NAMES = sorted(
    path.stem for path in FOLDER.glob("*.yaml") if "kind: Scenario" in path.read_text()
)


def played(name: str, *, proposed: bool) -> list[Verdict]:
    """Return what became of its expectations, with its proposal or as the release."""
    made = assemble(read_sources([FOLDER / f"{name}.yaml"]))
    assert made.scenario is not None
    if not proposed:
        document = made.world.policy.document()
        document["spec"]["simulation"].pop("proposal")
        made.world.set_policy(read_policy(document))
    horizon = durations.milliseconds(made.scenario.spec.horizon)
    return judge(made.scenario, simulate(made.world, until_ms=horizon).decisions)


def test_every_policy_has_a_scenario():
    policies = {path.stem.replace("_", "-") for path in FOLDER.glob("*.py")}
    assert policies == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_scenario_expects_happens_under_its_policy_alone(name):
    assert all(one.holds for one in played(name, proposed=True))
    assert not all(one.holds for one in played(name, proposed=False))
