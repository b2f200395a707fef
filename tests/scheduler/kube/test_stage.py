"""Pods find their places over time: gangs, packing, preemption, nodes that change."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.model.decisions import Bind, Fail, NodeChange, PermitWait, Preempt
from scheduler.model.objects import Key
from tests.scheduler.kube.rig import GANG_PLUGINS, Rig, node, pod, pod_group, profile


def gangs(**more: Any) -> dict[str, Any]:
    return {"profiles": [profile(plugins=GANG_PLUGINS, **more)]}


def bound_in(rig: Rig, prefix: str) -> int:
    return sum(name.startswith(prefix) for name in rig.places())


# --- gangs


def two_jobs(configuration: dict[str, Any] | None, group: bool) -> Rig:
    """Six places, and two jobs of four pods that arrive mixed up."""
    rig = Rig(
        *[node(f"n{i}", gpu=1) for i in range(6)],
        pod_group("job-a", 4),
        pod_group("job-b", 4),
        configuration=configuration,
    )
    for number in range(4):
        for job in "ab":
            name = f"{job}{number}"
            rig.put(pod(name, gpu=1, group=f"job-{job}" if group else ""))
    return rig


def test_without_gangs_two_jobs_hold_parts_of_each_other_for_ever() -> None:
    rig = two_jobs(None, group=False)
    rig.run(120_000)
    assert (bound_in(rig, "a"), bound_in(rig, "b")) == (3, 3)


def test_with_gangs_one_job_runs_whole_and_the_other_holds_nothing() -> None:
    rig = two_jobs(gangs(), group=True)
    rig.run(120_000)
    assert sorted([bound_in(rig, "a"), bound_in(rig, "b")]) == [0, 4]


def test_a_gang_that_waits_too_long_gives_its_nodes_back() -> None:
    args = {"permitWaitingTimeSeconds": 5, "podGroupRejectPercentage": 100}
    config = gangs(pluginConfig=[{"name": "Coscheduling", "args": args}])
    rig = Rig(node("n0", cpu=2), pod_group("g", 3), configuration=config)
    for number in range(3):
        rig.put(pod(f"g{number}", group="g"))
    rig.settle()
    assert rig.stage.used_on("n0") == ({"cpu": 2000}, 2)
    rig = rig.restarted()
    decisions = rig.run(4_999)
    assert not [d for d in decisions if d.reason == "Unschedulable"]
    rig.run(5_000)
    assert any(
        "rejected due to timeout after waiting 5s" in d.message for d in rig.decisions
    )


def test_groups_by_the_older_labels_stay_together() -> None:
    labels = "pod-group.scheduling.sigs.k8s.io"
    rig = Rig(node("n0", cpu=2), configuration=gangs())
    for name, group in (("a0", "x"), ("b0", "y"), ("c0", "x"), ("d0", "y")):
        named = {f"{labels}/name": group, f"{labels}/min-available": "2"}
        rig.put(pod(name, labels=named))
    rig.settle()
    assert rig.places() == {"a0": "n0", "c0": "n0"}


def test_the_label_of_the_older_group_names_a_pod_group() -> None:
    rig = Rig(node("n0", cpu=2), pod_group("x", 2), configuration=gangs())
    label = {"pod-group.scheduling.sigs.k8s.io": "x"}
    rig.put(pod("a", labels=label))
    rig.settle()
    assert rig.places() == {}
    rig.put(pod("b", labels=label))
    rig.settle()
    assert rig.places() == {"a": "n0", "b": "n0"}


def test_a_loop_without_progress_stops_and_says_so() -> None:
    rig = Rig(node("n0", cpu=1), pod_group("g", 2), configuration=gangs())
    rig.put(pod("g0", group="g"))
    rig.put(pod("g1", group="g"))
    rig.settle()
    assert "without binding a pod" in rig.context.journal.take_problems()[0].text
    assert rig.stage.due() == 1000


# --- choosing


SPREAD = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
PACK = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
BEND = [
    {"utilization": 0, "score": 0},
    {"utilization": 50, "score": 8},
    {"utilization": 100, "score": 10},
]


def by_ratio(shape: list[dict[str, int]]) -> dict[str, Any]:
    strategy = {
        "type": "RequestedToCapacityRatio",
        "resources": [{"name": "nvidia.com/gpu", "weight": 1}],
        "requestedToCapacityRatio": {"shape": shape},
    }
    only = {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit"}]}
    args = [{"name": "NodeResourcesFit", "args": {"scoringStrategy": strategy}}]
    return {"profiles": [profile(plugins={"score": only}, pluginConfig=args)]}


def gpus(shape: list[dict[str, int]]) -> Rig:
    """Four nodes of two GPUs, and four jobs of one; then one job that wants two."""
    nodes = [node(f"n{i}", gpu=2) for i in range(4)]
    rig = Rig(*nodes, configuration=by_ratio(shape))
    for number in range(4):
        rig.put(pod(f"small{number}", gpu=1))
        rig.settle()
    rig.put(pod("pair", gpu=2))
    rig.settle()
    return rig


def test_spreading_leaves_one_gpu_free_everywhere_and_no_place_for_two() -> None:
    rig = gpus(SPREAD)
    assert "pair" not in rig.places()
    assert rig.pending()["pair"].startswith("0/4 nodes are available: 4 Insufficient")


@pytest.mark.parametrize("shape", [PACK, BEND], ids=["a line", "a bend at half"])
def test_packing_keeps_a_whole_node_for_two(shape: list[dict[str, int]]) -> None:
    assert "pair" in gpus(shape).places()


def test_quality_of_service_orders_pods_of_one_priority() -> None:
    sorts = {"enabled": [{"name": "QOSSort"}], "disabled": [{"name": "*"}]}
    rig = Rig(configuration={"profiles": [profile(plugins={"queueSort": sorts})]})
    whole, cpu = {"cpu": "1", "memory": "1Gi"}, {"cpu": "1"}
    for name, resources in {
        "best-effort": {},
        "no-limits": {"requests": whole},
        "below-limits": {"requests": whole, "limits": {**whole, "cpu": "2"}},
        "cpu-alone": {"requests": cpu, "limits": cpu},
        "sure": {"requests": whole, "limits": whole},
    }.items():
        rig.put(pod(name, containers=[{"name": "c", "resources": resources}]))
    rig.put(pod("urgent", cpu=None, priority=1))
    rig.put(node("n0", cpu=8))
    order = [d.subject.name for d in rig.settle() if isinstance(d, Bind)]
    assert (order[:2], order[-1]) == (["urgent", "sure"], "best-effort")
    assert len(order) == 6


# --- preemption


def test_a_preemptor_takes_the_node_where_it_does_the_least_harm() -> None:
    rig = Rig(node("n0", cpu=2), node("n1", cpu=2))
    rig.put(pod("dear", cpu=2, priority=5))
    rig.settle()
    rig.put(pod("cheap", cpu=2, priority=1))
    rig.settle()
    rig.put(pod("boss", cpu=2, priority=9))
    decisions = rig.settle()
    assert [d.subject.name for d in decisions if isinstance(d, Preempt)] == ["cheap"]
    assert set(rig.places()) == {"boss", "dear"}


def budget(name: str, minimum: int | str, **labels: str) -> dict[str, Any]:
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minAvailable": minimum, "selector": {"matchLabels": labels}},
    }


def test_a_disruption_budget_moves_the_harm_elsewhere() -> None:
    rig = Rig(node("n0", cpu=1), node("n1", cpu=1), budget("keep", 1, app="web"))
    rig.put(pod("web", priority=0, labels={"app": "web"}))
    rig.settle()
    rig.put(pod("batch", priority=3))
    rig.settle()
    rig.put(pod("boss", priority=9))
    decisions = rig.settle()
    assert [d.subject.name for d in decisions if isinstance(d, Preempt)] == ["batch"]


def test_a_pod_that_must_not_preempt_waits() -> None:
    rig = Rig(node("n0", cpu=1))
    rig.put(pod("small", priority=0))
    rig.settle()
    rig.put(pod("polite", priority=9, preemptionPolicy="Never"))
    rig.settle()
    assert "preemptionPolicy=Never" in rig.pending()["polite"]


def test_room_promised_to_a_preemptor_is_not_for_lesser_pods() -> None:
    rig = Rig(node("n0", cpu=2))
    rig.put(pod("old", cpu=2, priority=0))
    rig.settle()
    rig.put(pod("boss", cpu=2, priority=9))
    rig.stage.schedule()
    rig.put(pod("late", cpu=1, priority=1))
    rig.settle()
    assert set(rig.places()) == {"boss"}


# --- time and nodes


def test_a_binding_takes_its_latency() -> None:
    rig = Rig(node("n0"), bind_latency_ms=250)
    rig.put(pod("p"))
    rig.settle()
    assert rig.places() == {}
    rig.run(250)
    assert rig.places() == {"p": "n0"}


def test_a_gated_pod_is_not_tried_until_its_gates_are_gone() -> None:
    rig = Rig(node("n0"))
    rig.put(pod("p", schedulingGates=[{"name": "wait"}]))
    rig.run(400_000)
    assert rig.places() == {}
    rig.put(pod("p"))
    rig.settle()
    assert rig.places() == {"p": "n0"}


def test_a_pod_that_did_not_fit_is_tried_when_a_node_comes() -> None:
    rig = Rig(node("n0", cpu=1))
    rig.put(pod("big", cpu=3))
    rig.settle()
    rig.put(node("n1", cpu=4))
    rig.settle()
    assert rig.places() == {"big": "n1"}


def test_without_any_node_a_pod_is_unschedulable_and_tried_again() -> None:
    rig = Rig()
    rig.put(pod("p"))
    (failed,) = (d for d in rig.settle() if isinstance(d, Fail))
    assert failed.reason == "Unschedulable"
    assert failed.message == "no nodes available to schedule pods"
    queued = rig.stage.schedulers[0].queue.entries[Key("Pod", "default", "p")]
    assert (queued.place, queued.errors, queued.rejections) == ("error", 1, 0)


def test_events_that_cannot_help_requeue_nobody() -> None:
    rig = Rig(node("n0", cpu=1))
    rig.put(pod("big", cpu=3))
    rig.settle()
    rig.put(node("n1", cpu=2))
    assert [d for d in rig.settle() if not isinstance(d, NodeChange)] == []


def test_cordon_and_uncordon_are_reported_and_obeyed() -> None:
    rig = Rig(node("n0"))
    rig.put(node("n0", unschedulable=True))
    rig.put(pod("p"))
    decisions = rig.settle()
    assert [d.change for d in decisions if isinstance(d, NodeChange)][-1] == "cordoned"
    assert rig.places() == {}
    rig.put(node("n0"))
    rig.settle()
    assert rig.places() == {"p": "n0"}


def test_an_unschedulable_pod_is_tried_again_after_five_minutes_at_most() -> None:
    rig = Rig(node("n0", cpu=1))
    rig.put(pod("big", cpu=3))
    rig.run(330_000)
    queued = rig.stage.schedulers[0].queue.entries[Key("Pod", "default", "big")]
    assert queued.attempts == 2


def test_a_pod_nobody_serves_waits_and_it_is_reported() -> None:
    rig = Rig(node("n0"))
    rig.put(pod("p", scheduler="missing"))
    rig.settle()
    assert (
        "no scheduler is named 'missing'" in rig.context.journal.take_problems()[0].text
    )


def test_a_scheduler_that_many_pods_wait_for_is_reported_once_with_their_number() -> (
    None
):
    rig = Rig(node("n0"))
    for number in range(3):
        rig.put(pod(f"p{number}", scheduler="missing"))
    rig.settle()
    assert [*map(str, rig.context.journal.take_problems())] == [
        "no scheduler is named 'missing': 3 pods wait for it, the first is default/p0"
    ]


def test_the_same_seed_gives_the_same_places() -> None:
    def run(seed: int) -> dict[str, str]:
        rig = Rig(*[node(f"n{i}") for i in range(8)], seed=seed)
        for number in range(12):
            rig.put(pod(f"p{number}"))
        rig.settle()
        return rig.places()

    assert run(7) == run(7)
    assert any(run(7) != run(seed) for seed in range(8, 12))


def test_conditions_say_what_happened() -> None:
    rig = Rig(node("n0", cpu=1))
    key = rig.put(pod("big", cpu=3))
    rig.settle()
    rig.write()
    assert rig.objects[key].status["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 "
            "nodes are available: 1 Preemption is not helpful for scheduling.",
        }
    ]


def test_waiting_at_permit_is_reported_with_its_deadline() -> None:
    rig = Rig(node("n0"), pod_group("g", 2), configuration=gangs())
    rig.put(pod("g0", group="g", schedulingGates=[]))
    rig.put(pod("g1", group="g", cpu=9))
    decisions = rig.settle()
    waits = [d for d in decisions if isinstance(d, PermitWait)]
    assert [(d.subject.name, d.deadline_ms) for d in waits[:1]] == [("g0", 60_000)]
