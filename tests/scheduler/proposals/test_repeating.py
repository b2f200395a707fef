"""A policy that repeats the release decides the same, to the last byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scheduler.assembly import assemble
from scheduler.cli.run import read_sources
from scheduler.engine.tick import simulate
from scheduler.engine.worlds.encoding import hash_of
from scheduler.model import durations, registry
from scheduler.model.patches import merge
from scheduler.model.policy import read_policy
from scheduler.model.proposals import Chosen, Policy, proposal
from tests.scheduler.kueue.random_runs import objects, run

LIBRARY = Path(__file__).parents[3] / "sandbox/scenarios"
SCENARIOS = ("classical-reclaim", "fair-weights", "friday-rush", "strict-fifo",
             "flavor-fungibility", "preemption-checkpoints", "kube-gpu-binpack",
             "kube-gang-coscheduling", "kube-two-schedulers", "kube-qos-order",
             "extender-points", "yunikorn-order-of-queues", "yunikorn-fair-grows",
             "yunikorn-tenant-fences")  # fmt: skip
#: Each place of the interface, and a scenario in which it is asked.
PLACES = {
    "precedence": "classical-reclaim",
    "weight": "fair-weights",
    "flavors": "flavor-fungibility",
    "strict": "strict-fifo",
    "hold_until": "strict-fifo",
    "spare_until": "classical-reclaim",
    "victim_order": "friday-rush",
    "ran": "classical-reclaim",
    "preempted": "classical-reclaim",
    "pod_order": "kube-qos-order",
    "node_order": "kube-gpu-binpack",
    "queue_order": "yunikorn-order-of-queues",
}
KEPT = run.kept()


@pytest.fixture(autouse=True)
def repeats(enrol):
    enrol(Path(__file__).parent / "repeats.py")


def end_of(name: str, proposal: Chosen | None) -> str:
    """Return the hash of a scenario's end, without the proposal and what it was told."""
    made = assemble(read_sources([LIBRARY / name]))
    assert made.scenario is not None
    world = made.world
    document = world.policy.document()
    if proposal is not None:
        patch = {"spec": {"simulation": {"proposal": {"name": proposal.name}}}}
        world.set_policy(read_policy(merge(document, patch)))
    else:
        world.set_policy(read_policy(document))
    simulate(world, until_ms=durations.milliseconds(made.scenario.spec.horizon))
    world.freshen()
    header = world.header()
    header.policy["spec"]["simulation"].pop("proposal", None)
    header.state.get("kueue", {}).pop("proposal", None)
    return hash_of(header, world.objects.values())


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_ends_with_the_hash_of_the_release(name):
    assert end_of(name, Chosen(name="Repeats")) == end_of(name, None)


def test_each_place_of_the_interface_is_repeated():
    found = {n for n in vars(Policy) if not n.startswith("_")}
    assert set(PLACES) == found - {"name", "args_type"}


@pytest.mark.parametrize("place", PLACES)
def test_one_place_that_is_asked_and_repeats_the_release_changes_no_hash(place):
    asked = []
    repeated = getattr(registry.lookup("proposal", "Repeats"), place)

    def asking(self, *given):
        asked.append(given)
        return repeated(self, *given)

    kind = type("One", (Policy,), {place: asking})
    proposal("One", label="One", help="")(kind)
    named = PLACES[place]
    assert end_of(named, Chosen(name="One")) == end_of(named, None)
    assert asked


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_a_random_run_says_what_it_says_under_the_release(first, monkeypatch):
    read = objects.read_configuration
    chosen = Chosen(name="Repeats")
    monkeypatch.setattr(
        objects,
        "read_configuration",
        lambda given: replace(read(given), proposal=chosen),
    )
    for seed in list(KEPT)[first : first + 20]:
        assert run.digest(int(seed)) == KEPT[seed], f"seed {seed}"


REMEMBERING = (
    Chosen(name="UsedOverTime", settings={"halfLife": "20s", "margin": "3s"}),
    Chosen(
        name="WeeklyBudget",
        settings={"resource": "cpu", "period": "30s", "budgets": {"a": 0.05}},
    ),
)


@pytest.mark.parametrize("chosen", REMEMBERING, ids=lambda one: one.name)
def test_what_a_policy_remembers_is_read_back_as_it_was_written(
    chosen, enrol, monkeypatch
):
    """Random runs hold each stage that is read back against the one that wrote."""
    read = objects.read_configuration
    monkeypatch.setattr(
        objects,
        "read_configuration",
        lambda given: replace(read(given), proposal=chosen),
    )
    for seed in list(KEPT)[:15]:
        run.play(int(seed))
