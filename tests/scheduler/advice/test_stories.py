"""Worked stories: each answer's patch, applied, holds where nothing before looked."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from scheduler.analysis.experiments.bases import FileBase
from scheduler.analysis.experiments.document import Variant
from scheduler.analysis.experiments.runs import Plan, run
from scheduler.analysis.measures import flat
from scheduler.cli.advise import main

ADVICE = Path(__file__).resolve().parents[3] / "docs/examples/advice"
TEAMS = ("inference", "etl", "research", "training")
FRESH = 31  # neither a search nor its proof ran this seed


def numbers(folder: str, *names: str, seed: int = FRESH) -> dict[str, float]:
    """Return what a run of these files comes to; the later of two objects counts."""
    files = [(name, (ADVICE / folder / name).read_text()) for name in names]
    base = FileBase.read(files)
    plan = Plan(
        variants=[Variant(name="x")],
        seeds=[seed],
        horizon_ms=base.horizon_ms(),
        limit_ms=60_000,
    )
    return flat(run(base, plan, 0, seed).summary)


def real_day(day: int) -> list[str]:
    """Return the files of a day of the log, of which no rate and run time was taken."""
    return [f"day-{day}.yaml", *(f"day-{day}-{team}.swf" for team in TEAMS)]


def test_half_the_bill_holds_on_a_fresh_seed():
    day = ("world.yaml", "day-54.yaml", "day-54.swf")
    before = numbers("half-the-bill", *day)
    after = numbers("half-the-bill", *day, "set.yaml")
    assert after["cost"] < before["cost"] / 2
    assert after["finished"] >= before["finished"]


@pytest.mark.parametrize("day", [60, 61])
def test_equal_slowdown_holds_on_a_day_that_the_search_did_not_see(day):
    before = numbers("four-teams", "split.yaml", *real_day(day))
    after = numbers("four-teams", "split.yaml", *real_day(day), "split-set.yaml")
    assert after["slowdownRatio"] < before["slowdownRatio"] / 2
    assert after["finished"] >= before["finished"]


def test_inference_has_its_p95_on_a_day_that_the_search_did_not_see():
    before = numbers("four-teams", "cohort.yaml", *real_day(60))
    after = numbers("four-teams", "cohort.yaml", *real_day(60), "inference-set.yaml")
    assert after["queues.inference.p95Ms"] <= 30_000 < before["queues.inference.p95Ms"]
    assert after["preemptions"] <= before["preemptions"] / 2


def test_inference_has_its_p95_with_fewer_preemptions_on_a_fresh_seed():
    before = numbers("four-teams", "cohort.yaml", "arrivals.yaml")
    after = numbers("four-teams", "cohort.yaml", "arrivals.yaml", "inference-set.yaml")
    assert after["queues.inference.p95Ms"] <= 30_000
    assert after["preemptions"] < before["preemptions"]


@pytest.mark.parametrize("story", ["equal-slowdown", "inference", "half-the-bill"])
def test_a_story_names_its_goal_which_is_understood(story, capsys):
    page = (ADVICE.parents[1] / f"advisor-{story}.md").read_text()
    goal = f"docs/examples/advice/{story}.yaml"
    assert f"quotalab advise {goal} --patches" in page
    assert main([str(ADVICE / f"{story}.yaml"), "--estimate"]) == 0
    assert "settings; at most about" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["split-set.yaml", "inference-set.yaml"])
def test_a_patch_moves_quota_and_makes_none(name):
    found = [*yaml.safe_load_all((ADVICE / "four-teams" / name).read_text())]
    old = "split.yaml" if name.startswith("split") else "cohort.yaml"
    there = {
        (one["kind"], one["metadata"]["name"]): one
        for one in yaml.safe_load_all((ADVICE / "four-teams" / old).read_text())
    }
    after = {(one["kind"], one["metadata"]["name"]): one for one in found}
    queues = {**there, **after}
    assert sum(gpus(one) for one in queues.values()) == 112


def gpus(one) -> int:
    if one["kind"] != "ClusterQueue":
        return 0
    flavors = one["spec"]["resourceGroups"][0]["flavors"]
    return int(flavors[0]["resources"][0]["nominalQuota"])
