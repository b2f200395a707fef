"""The smallest world that still shows a decision, and that it really does."""

from __future__ import annotations

import msgspec
import pytest

from scheduler.analysis.expectations import judge
from scheduler.analysis.reproduction import (
    Reproduction,
    match_of,
    reproduce,
    start_of_files,
    start_of_world,
)
from scheduler.assembly import Assembled, assemble
from scheduler.cli.reproduce import main as command
from scheduler.cli.run import main as run
from scheduler.engine.tick import run_tick, simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Admit, Decision, Preempt
from scheduler.model.scenario import Match
from tests.builders import assembled, node, pod
from tests.sandbox.conftest import contended, text_of


def run_to(assembled_: Assembled, kind: type[Decision]) -> Decision:
    """Run until the first decision of a kind."""
    outcome = simulate(
        assembled_.world, until_ms=60_000, stop=lambda d: isinstance(d, kind)
    )
    return next(d for d in outcome.decisions if isinstance(d, kind))


def just_before(world: World, at_ms: int) -> World:
    while world.context.now_ms + 1000 < at_ms:
        run_tick(world)
    return world


def kinds(found: Reproduction) -> list[str]:
    return sorted(document["kind"] for document in found.documents[1:])


@pytest.fixture(scope="module")
def preemption() -> Decision:
    return run_to(assembled(*contended()), Preempt)


@pytest.fixture(scope="module")
def found(preemption: Decision) -> Reproduction:
    world = just_before(assembled(*contended()).world, preemption.at_ms)
    start = start_of_world(world, preemption.at_ms)
    return reproduce([start], match_of(preemption))


def test_a_preemption_needs_its_queue_its_victim_and_its_preemptor(found):
    assert found.found
    assert found.minimal
    assert found.after < found.before / 2
    assert {"ClusterQueue", "LocalQueue", "ResourceFlavor"} <= set(kinds(found))


def test_its_documents_load_run_and_hold_to_their_expectation(found):
    text = [
        (f"{n}.json", msgspec.json.encode(document).decode())
        for n, document in enumerate(found.documents)
    ]
    again = assemble(text)
    outcome = simulate(again.world, until_ms=60_000)
    assert all(verdict.holds for verdict in judge(again.scenario, outcome.decisions))


def test_without_any_one_object_it_is_not_shown(found, preemption):
    scenario, *objects = found.documents
    for n in range(len(objects)):
        left = [scenario, *objects[:n], *objects[n + 1 :]]
        again = assemble(
            [(f"{i}.json", msgspec.json.encode(d).decode()) for i, d in enumerate(left)]
        )
        outcome = simulate(again.world, until_ms=preemption.at_ms)
        verdicts = judge(again.scenario, outcome.decisions)
        assert not all(verdict.holds for verdict in verdicts)


def test_files_are_shrunk_with_their_arrivals(preemption):
    start = start_of_files(assembled(*contended()), preemption.at_ms)
    found = reproduce([start], match_of(preemption))
    assert found.found
    assert found.after < found.before


def test_the_policy_keeps_only_what_matters():
    policy = {"kueue": {"fairSharing": {}, "waitForPodsReady": {"timeout": "5m"}}}
    start = start_of_files(assembled(*contended(), **policy), 10_000)
    wanted = match_of(run_to(assembled(*contended(), **policy), Admit))
    found = reproduce([start], wanted)
    assert "kueue" not in found.documents[0]["spec"]["policy"]


def test_a_pod_without_a_place_needs_itself_alone():
    worlds = assembled(
        *(node(f"n{i}", cpu=1) for i in range(4)),
        *(pod(f"p{i}", cpu=1) for i in range(3)),
        pod("large", cpu=3),
        stack="kube",
    )
    start = start_of_files(worlds, 5_000)
    wanted = Match(type="Fail", subject="Pod/default/large")
    assert kinds(reproduce([start], wanted)) == ["Pod"]


def test_what_never_happens_is_not_found():
    start = start_of_files(assembled(*contended()), 5_000)
    found = reproduce([start], Match(type="Preempt", subject="Workload/default/x"))
    assert (found.found, found.documents, found.runs) == (False, [], 1)


def test_a_limit_of_runs_is_kept_and_reported(preemption):
    start = start_of_files(assembled(*contended()), preemption.at_ms)
    found = reproduce([start], match_of(preemption), most_runs=4)
    assert found.found
    assert not found.minimal
    assert found.runs <= 5


def test_the_command_prints_what_runs_and_holds(tmp_path, capsys):
    world = tmp_path / "world.yaml"
    world.write_text(text_of(*contended()))
    assert command([str(world), "Preempt"]) == 0
    small = tmp_path / "smallest.json"
    small.write_text(capsys.readouterr().out)
    assert run([str(small)]) == 0
    assert "ok  " in capsys.readouterr().out
    assert command([str(world), "Preempt", "--subject", "Workload/a/none"]) == 1
