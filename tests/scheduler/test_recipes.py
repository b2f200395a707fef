"""Recipes: what to write for a wish, each file held to what it promises."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.assembly import assemble
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from tests.builders import job

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "docs/examples/recipes"
NAMES = sorted(file.stem for file in RECIPES.glob("*.yaml"))
HOUR_MS = 3_600_000


def gpus(name: str, queue: str, count: int, **given: str) -> dict[str, Any]:
    made = job(name, queue=queue, **{"runtime": "20h", **given})
    requests = {"nvidia.com/gpu": str(count)}
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": requests, "limits": requests}
    return made


def running(
    recipe: str, *jobs: dict[str, Any], until_ms: Sequence[int]
) -> list[set[str]]:
    """Return the jobs that hold quota at each of these times."""
    text = (RECIPES / f"{recipe}.yaml").read_text()
    files = [("recipe.yaml", text), ("jobs.yaml", yaml.safe_dump_all(jobs))]
    world = assemble(files).world
    found = []
    for at in until_ms:
        simulate(world, until_ms=at)
        found.append(_held(world))
    return found


def _held(world: World) -> set[str]:
    assert world.kueue is not None
    works = world.kueue.cluster.workloads.values()
    return {one.key.name.split("-")[1] for one in works if one.reserved}


@pytest.mark.parametrize("recipe", NAMES)
def test_a_recipe_is_taken_without_a_finding(recipe):
    text = (RECIPES / f"{recipe}.yaml").read_text()
    assert assemble([("recipe.yaml", text)]).loaded.findings == []


def test_a_guarantee_is_lent_while_idle_and_comes_back():
    lent, back = running(
        "guarantee",
        gpus("b", "team-b", 4),
        gpus("borrows", "team-b", 8),
        gpus("a", "team-a", 8, arrival="1h"),
        until_ms=[60_000, HOUR_MS + 60_000],
    )
    assert (lent, back) == ({"b", "borrows"}, {"b", "a"})


def test_what_is_borrowed_for_good_is_not_taken_back_and_four_are_never_lent():
    before, after = running(
        "borrow-for-good",
        gpus("b", "team-b", 8),
        gpus("more", "team-b", 1, arrival="1m"),
        gpus("a", "team-a", 8, arrival="1h"),
        gpus("own", "team-a", 4, arrival="2h"),
        until_ms=[120_000, 2 * HOUR_MS + 60_000],
    )
    assert (before, after) == ({"b"}, {"b", "own"})


def test_a_team_without_a_budget_runs_on_what_is_idle_and_gives_it_back():
    idle, busy = running(
        "no-budget",
        gpus("g", "guests", 4),
        gpus("more", "guests", 1, arrival="1m"),
        gpus("a", "team-a", 8, arrival="1h"),
        until_ms=[120_000, HOUR_MS + 60_000],
    )
    assert (idle, busy) == ({"g"}, {"a"})


def test_batch_runs_at_night_alone():
    day, night, morning = running(
        "nights",
        gpus("j", "batch", 8),
        until_ms=[11 * HOUR_MS, 13 * HOUR_MS, 23 * HOUR_MS],
    )
    assert (day, night, morning) == (set(), {"j"}, set())


def test_a_drained_queue_is_empty_until_it_opens():
    before, drained, after = running(
        "drain",
        gpus("j", "team-a", 8),
        until_ms=[300_000, 1_200_000, 1_900_000],
    )
    assert (before, drained, after) == ({"j"}, set(), {"j"})


def test_the_documents_name_each_recipe():
    text = (ROOT / "docs/recipes.md").read_text()
    assert [name for name in NAMES if f"examples/recipes/{name}.yaml" not in text] == []
