"""A proposal in a world: how it is chosen, what it decides, and that it is said."""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from scheduler.analysis.explain.pods import explain_pod
from scheduler.analysis.explain.workloads import explain
from scheduler.cli import run as run_verb
from scheduler.engine.kueue.stage import KueueStage
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model import registry
from scheduler.model.decisions import Admit, Bind, Preempt
from scheduler.model.errors import PolicyError, RegistrationError, SchedulerError
from scheduler.model.objects import Key
from scheduler.model.policy import read_policy
from scheduler.model.proposals import Policy, proposal
from scheduler.recorded.shadow.compare import Judge
from scheduler.recorded.shadow.decisions import History
from scheduler.recorded.twin.played import recording_of
from scheduler.words.gaps import of_proposal
from tests.builders import (
    Manifest,
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    small_cluster,
    two_leaves,
    workload_priority,
    world_of,
)


def chosen(name: str, **settings: Any) -> dict[str, Any]:
    return {"proposal": {"name": name, "settings": settings}}


def refusal(given: dict[str, Any]) -> str:
    with pytest.raises(PolicyError) as found:
        read_policy({"spec": {"simulation": given}})
    return str(found.value)


def admitted(world: World, until_s: int) -> dict[str, int]:
    """Return when each job was admitted first, in seconds."""
    found: dict[str, int] = {}
    for one in simulate(world, until_ms=until_s * 1000).decisions:
        if isinstance(one, Admit):
            found.setdefault(one.subject.name.split("-")[1], one.at_ms // 1000)
    return found


def held(name: str, **kind: Any) -> None:
    """Enrol a policy of these methods."""
    proposal(name, label=name, help="")(type(name, (Policy,), kind))


# ---- chosen ----


def test_an_unknown_proposal_is_refused_with_those_that_are_known():
    said = refusal(chosen("Nothing"))
    assert "simulation.proposal.name" in said
    assert "EasyBackfill, MinimumRunTime" in said


def test_where_no_proposal_is_installed_it_is_said_how_one_is(monkeypatch):
    others = {k: v for k, v in registry._entries.items() if k[0] != "proposal"}
    monkeypatch.setattr(registry, "_entries", others)
    assert "no policy MinimumRunTime is here" in refusal(chosen("MinimumRunTime"))


@pytest.mark.parametrize(
    "wrong", [lambda *_: 1 / 0, lambda *_: "soon"], ids=["raises", "no number"]
)
def test_a_plug_in_that_fails_ends_the_run_with_its_name_and_method(wrong):
    held("Failing", precedence=wrong)
    world = world_of(
        *small_cluster(cpu=4),
        *(job(f"j{n}", queue="main", cpu=1) for n in range(2)),
        simulation=chosen("Failing"),
    )
    with pytest.raises(SchedulerError, match="the policy Failing fails in precedence"):
        simulate(world, until_ms=5_000)


def test_a_setting_that_the_proposal_does_not_have_is_refused_by_its_name():
    said = refusal(chosen("MinimumRunTime", preemt="1m"))
    assert "simulation.proposal.settings" in said
    assert "preemt" in said


def test_a_length_that_is_none_is_refused():
    assert "simulation.proposal.settings" in refusal(
        chosen("MinimumRunTime", preempt="soon")
    )


def test_a_file_that_cannot_be_imported_is_named(enrol, tmp_path):
    (tmp_path / "broken.py").write_text("import no_such_module\n")
    with pytest.raises(RegistrationError, match=r"QUOTALAB_POLICIES: .*broken\.py"):
        enrol(tmp_path)


@pytest.mark.parametrize(
    "text", ["import no_such_module\n", "class (\n", "Mine\n", "int('x')\n"]
)
def test_each_who_asks_is_told_of_a_file_that_fails_and_of_none_beside_it(
    enrol, tmp_path, text
):
    (tmp_path / "a.py").write_text(
        "from quotalab.policies import Policy, proposal\n"
        "@proposal('Fine', label='Fine', help='')\n"
        "class Fine(Policy):\n    pass\n"
    )
    (tmp_path / "broken.py").write_text(text)
    for ask in (lambda: enrol(tmp_path), registry.load):
        with pytest.raises(RegistrationError, match=r"QUOTALAB_POLICIES: .*broken\.py"):
            ask()


def test_a_command_ends_by_a_file_that_is_not_there_in_one_line(tmp_path):
    scenario = Path(__file__).parents[3] / "sandbox/scenarios/friday-rush"
    ended = subprocess.run(
        [sys.executable, "-m", "scheduler", "run", scenario, "--until", "1s"],
        env={**os.environ, registry.FILES: str(tmp_path / "none.py")},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert "none.py" in ended.stderr
    assert "fault of the program" not in ended.stderr


def test_a_policy_of_a_file_is_found_by_its_name(enrol, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from __future__ import annotations\n"
        "from quotalab.policies import Policy, proposal\n"
        "@proposal('Mine', label='Mine', help='')\n"
        "class Mine(Policy):\n    pass\n"
    )
    enrol(tmp_path)
    assert registry.lookup("proposal", "Mine").name == "Mine"


# ---- decides ----


def test_a_head_that_is_held_is_admitted_at_the_instant_that_was_named():
    held("Later", hold_until=lambda self, work, queue, now_ms: 40_500)
    world = world_of(
        *small_cluster(), job("one", queue="main"), simulation=chosen("Later")
    )
    [at] = [
        one.at_ms
        for one in simulate(world, until_ms=60_000).decisions
        if isinstance(one, Admit)
    ]
    assert at == 40_500


def test_who_is_held_is_told_until_when():
    held("Later", hold_until=lambda self, work, queue, now_ms: 40_000)
    world = world_of(
        *small_cluster(), job("one", queue="main"), simulation=chosen("Later")
    )
    simulate(world, until_ms=1_000)
    [work] = [obj for key, obj in world.objects.items() if key.kind == "Workload"]
    messages = [one["message"] for one in world.get(work.key).status["conditions"]]
    assert 'held by the proposal "Later" until 2026-01-01T00:00:40Z' in messages


def test_a_spared_victim_goes_when_its_time_is_over():
    world = world_of(
        *small_cluster(within="LowerPriority"),
        workload_priority("urgent", 10),
        job("old", queue="main", cpu=4, runtime="1h"),
        job("new", queue="main", cpu=4, arrival="5s", priority_class="urgent"),
        simulation=chosen("MinimumRunTime", preempt="30s"),
    )
    [at] = [
        one.at_ms
        for one in simulate(world, until_ms=60_000).decisions
        if isinstance(one, Preempt)
    ]
    assert at == 30_000


def two_queues(**simulation: Any) -> list[Manifest]:
    return [
        flavor(),
        *(cluster_queue(name, cohort="all", cpu="0") for name in "ab"),
        cluster_queue("spare", cohort="all", cpu="1"),
        *(local_queue(name, cluster_queue=name) for name in "ab"),
    ]


def test_the_head_with_the_lower_precedence_goes_first():
    held("B", precedence=lambda self, work, queue, now_ms: float(queue.name == "a"))
    jobs = [job(f"j{name}", queue=name, runtime="10s") for name in "ab"]
    world = world_of(*two_queues(), *jobs, simulation=chosen("B"))
    assert admitted(world, 60) == {"jb": 0, "ja": 10}


def test_a_weight_of_the_policy_decides_the_share_and_the_configured_one_stays():
    held("B", weight=lambda self, queue, now_ms: 0.001 if queue.name == "a" else 1.0)
    jobs = [job(f"j{name}", queue=name, runtime="10s") for name in "ab"]
    world = world_of(
        *two_queues(), *jobs, simulation=chosen("B"), kueue={"fairSharing": {}}
    )
    assert admitted(world, 60) == {"jb": 0, "ja": 10}
    assert world.kueue is not None
    assert {queue.weight for queue in world.kueue.cluster.forest.queues.values()} == {1}


def test_flavors_are_tried_in_the_order_of_the_policy():
    held("Backwards", flavors=lambda self, work, names: [*reversed(names)])
    queue = cluster_queue("main")
    [group] = queue["spec"]["resourceGroups"]
    group["flavors"] = [{**group["flavors"][0], "name": name} for name in ("x", "y")]
    world = world_of(
        flavor("x"),
        flavor("y"),
        queue,
        local_queue("main", cluster_queue="main"),
        job("one", queue="main"),
        simulation=chosen("Backwards"),
    )
    simulate(world, until_ms=1_000)
    [work] = [key for key in world.objects if key.kind == "Workload"]
    [part] = world.get(work).status["admission"]["podSetAssignments"]
    assert part["flavors"] == {"cpu": "y"}


def bound(*manifests: Manifest, stack: str, **policy: Any) -> dict[str, str]:
    """Return pod -> node, in the order in which pods were bound."""
    world = world_of(*manifests, stack=stack, **policy)
    made = simulate(world, until_ms=60_000).decisions
    return {one.subject.name: one.node for one in made if isinstance(one, Bind)}


def test_pods_are_tried_in_the_order_of_the_policy():
    held("Last", pod_order=lambda self, pod: -float(pod.name[-1]))
    pods = [pod(f"p{n}") for n in range(3)]
    found = bound(node("n", cpu=9), *pods, stack="kube", simulation=chosen("Last"))
    assert list(found) == ["p2", "p1", "p0"]


def test_a_pod_goes_to_the_node_that_the_policy_has_first():
    """The release would take an empty node each time."""
    held("Full", node_order=lambda self, pod, node, now_ms: -node.pods)
    nodes = [node(f"n{n}", cpu=9) for n in range(3)]
    pods = [pod(f"p{n}") for n in range(3)]
    found = bound(*nodes, *pods, stack="kube", simulation=chosen("Full"))
    assert len(set(found.values())) == 1


def test_pods_of_kueue_go_where_the_policy_says_too():
    held("Far", node_order=lambda self, pod, node, now_ms: -float(node.name[-1]))
    nodes = [node(f"n{n}", cpu=9) for n in range(3)]
    manifests = [*small_cluster(), *nodes, job("one", queue="main")]
    found = bound(*manifests, stack="kueue", simulation=chosen("Far"))
    assert set(found.values()) == {"n2"}


def test_the_table_of_a_pods_nodes_has_the_proposal_above_all_others():
    held("Far", node_order=lambda self, pod, node, now_ms: -float(node.name[-1]))
    nodes = [node(f"n{n}", cpu=n + 2) for n in range(3)]
    world = world_of(*nodes, pod("p"), stack="kube", simulation=chosen("Far"))
    assert world.kube is not None
    found = world.kube.table(Key("Pod", "default", "p"))
    assert found.scores["Proposal"].normalized == {"n0": 0, "n1": 0, "n2": 100}
    assert found.best == ["n2"]


def test_queues_of_yunikorn_are_served_in_the_order_of_the_policy():
    held("B", queue_order=lambda self, queue, now_ms: float(queue.name != "root.b"))
    pods = [
        pod(name, labels={"applicationId": name, "queue": f"root.{name}"})
        for name in "ab"
    ]
    found = bound(
        node("n", cpu=9),
        *pods,
        stack="yunikorn",
        yunikorn={"queues": two_leaves()},
        simulation=chosen("B"),
    )
    assert list(found) == ["b", "a"]


def test_what_a_policy_remembers_is_of_the_world_and_of_its_copies():
    world = world_of(
        *two_queues(),
        job("one", queue="a", runtime="1h"),
        job("two", queue="b", arrival="20s"),
        simulation=chosen("UsedOverTime", halfLife="1m"),
    )
    simulate(world, until_ms=60_000)
    copy = world.copy()
    assert copy.hash() == world.hash()
    for one in (world, copy):
        simulate(one, until_ms=120_000)
    assert copy.hash() == world.hash()
    assert world.header().state["kueue"]["proposal"]["state"]["shares"]["a"][0] > 0


def test_another_proposal_does_not_take_what_the_one_before_remembered():
    world = world_of(
        *two_queues(),
        job("one", queue="a", runtime="1h"),
        job("two", queue="b", arrival="20s"),
        simulation=chosen("UsedOverTime", halfLife="1m"),
    )
    simulate(world, until_ms=60_000)
    document = world.policy.document()
    document["spec"]["simulation"]["proposal"] = {"name": "WorkLost"}
    world.set_policy(read_policy(document))
    assert "proposal" not in world.header().state["kueue"]


# ---- said ----


def proposed() -> World:
    return world_of(
        *small_cluster(), job("one", queue="main", cpu=9), simulation=chosen("WorkLost")
    )


SAID = "the proposal WorkLost decides: no release decides so"


def test_an_explanation_says_that_a_proposal_decides():
    world = proposed()
    simulate(world, until_ms=1_000)
    [key] = [key for key in world.objects if key.kind == "Workload"]
    assert explain(world, key).sentences[0] == SAID


@pytest.mark.parametrize("stack", ["kube", "yunikorn"])
def test_an_explanation_of_a_pod_says_that_a_proposal_decides(stack):
    held("Both", pod_order=lambda *_: 0, queue_order=lambda *_: 0)
    labels = {"applicationId": "p", "queue": "root.a"}
    world = world_of(
        node("n"),
        pod("p", labels=labels),
        stack=stack,
        yunikorn={"queues": two_leaves()},
        simulation=chosen("Both"),
    )
    found = explain_pod(world, Key("Pod", "default", "p"))
    assert found.sentences[0] == SAID.replace("WorkLost", "Both")


def test_a_proposal_that_the_stack_does_not_ask_is_said_to_decide_nothing():
    world = world_of(pod("p"), stack="kube", simulation=chosen("WorkLost"))
    said = [one.text for one in of_proposal(world.policy.spec)]
    assert said == ["the proposal WorkLost decides nothing under this stack"]
    assert world.policy.spec.proposed() is None


def test_a_proposal_for_queues_of_yunikorn_alone_decides_nothing_under_kueue():
    held("B", queue_order=lambda self, queue, now_ms: 0)
    world = world_of(*small_cluster(), simulation=chosen("B"))
    assert world.policy.spec.proposed() is None


def test_a_run_says_that_a_proposal_decides(tmp_path):
    file = tmp_path / "world.yaml"
    file.write_text(
        "apiVersion: quotalab.dev/v1\nkind: Policy\n"
        "spec: {simulation: {proposal: {name: WorkLost}}}\n"
    )
    out = StringIO()
    run_verb.main([str(file), "--stack", "kueue", "--until", "1s"], out)
    assert SAID in out.getvalue()


def test_a_world_of_a_proposal_is_not_recorded():
    with pytest.raises(SchedulerError, match=r"WorkLost.*take simulation.proposal out"):
        recording_of(proposed(), 1_000)


def test_a_recording_is_not_held_against_a_proposal():
    world = proposed()
    assert isinstance(world.kueue, KueueStage)
    with pytest.raises(SchedulerError, match="nothing recorded is held against it"):
        Judge(History({}, []), world.kueue.settings, 0)


def test_the_key_of_a_workload_is_its_namespace_and_name():
    seen = []
    held("Notes", hold_until=lambda self, work, queue, now_ms: seen.append(work) or 0)
    world = world_of(
        *small_cluster(),
        job("one", queue="main", runtime="90s", cpu=2),
        simulation=chosen("Notes"),
    )
    simulate(world, until_ms=1_000)
    [work] = [key for key in world.objects if key.kind == "Workload"]
    assert seen[0].name == f"default/{work.name}"
    assert (seen[0].run_time_ms, seen[0].requests) == (90_000, {"cpu": 2000})
    assert seen[0].usage == {("default", "cpu"): 2000}
    assert work == Key("Workload", "default", work.name)
