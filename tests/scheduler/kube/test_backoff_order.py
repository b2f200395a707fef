"""Who is tried early, and whom an event wakes: as a look at all that wait would say."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.engine.kube.framework.plugin import Event, QueuedPodInfo
from scheduler.engine.kube.framework.status import OK, Code, Status
from scheduler.engine.kube.queue.heaps import BackoffHeap
from scheduler.engine.kube.queue.scheduling_queue import SchedulingQueue
from scheduler.engine.stage import Context
from scheduler.model.kube.configuration import BackoffSettings
from scheduler.model.objects import Key
from scheduler.model.pod import Pod, read_pod
from tests.scheduler.kube.rig import Rig, node, pod


def played(seed: int, *, kept: bool) -> Rig:
    """Run pods that do not all fit; take some away and change others on the way."""
    draw = random.Random(seed)
    nodes = [node(f"n{n}", cpu=draw.choice([1, 2, 4])) for n in range(2)]
    pods = [
        pod(f"p{n}", cpu=draw.choice([1, 2, 3]), priority=draw.choice([0, 0, 5]))
        for n in range(draw.randrange(4, 14))
    ]
    rig = Rig(*nodes, *pods)
    [scheduler] = rig.stage.schedulers
    if not kept:
        queue = scheduler.queue
        queue._early = None
        queue._may_help = lambda _: list(queue._turned_back)
    for at_ms in range(500, 40_000, 2_500):
        rig.run(at_ms)
        one = draw.choice(pods)
        key = Key("Pod", one["metadata"].get("namespace", ""), one["metadata"]["name"])
        if key not in rig.objects:
            continue
        if draw.random() < 0.5:
            rig.remove(key)
        else:
            spec = {**one["spec"], "priority": draw.choice([0, 5])}
            rig.put({**one, "spec": spec})
    rig.run(60_000)
    return rig


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_decisions_are_those_of_a_look_at_all_that_wait(seed: int) -> None:
    kept, looked = (played(seed, kept=every) for every in (True, False))
    assert kept.decisions == looked.decisions


def test_an_older_entry_may_come_up_after_the_newer_one_is_gone():
    keys = iter([(2,), (1,)])
    heap = BackoffHeap(lambda _: next(keys))
    queued = QueuedPodInfo(pod=read_pod(pod("a"), {}))
    queued.place = "backoff"
    heap.push(queued)
    heap.push(queued)  # it changed: it comes up before its older entry
    assert heap.first() is queued
    queued.place = "flight"
    assert heap.first() is None


asked: list[str] = []  # of whom an event was asked about


def queue_of(*pods: Pod, gate: Status = OK) -> SchedulingQueue:
    """Return a queue of pods that are all to be tried, by priority, but for a gate."""
    helped = {"NodeResourcesFit"}
    queue = SchedulingQueue(
        Context(seed=1, epoch_us=0),
        timing=BackoffSettings(),
        sort_key=lambda queued: (-queued.pod.priority,),
        moving=False,
        pre_enqueue=lambda _: gate,
        helped=lambda pod, _event, _among: asked.append(pod.key.name) or helped,
        may_help=lambda _event: helped,
    )
    for one in pods:
        queue.add(one)
    return queue


def named(name: str, priority: int = 0) -> Pod:
    return read_pod(pod(name, priority=priority), {})


def test_a_pod_whose_priority_falls_while_it_backs_off_is_tried_after_the_other() -> (
    None
):
    queue = queue_of(named("falls", 5), named("other", 3))
    for queued in [queue.pop(), queue.pop()]:
        queue.failed(queued, error=False)
    queue.update(named("falls", 1))
    assert [queue.pop().pod.key.name for _ in range(2)] == ["other", "falls"]


def test_a_queue_that_is_never_empty_keeps_no_pod_whose_backoff_is_over() -> None:
    queue = queue_of(named("first"), named("second"))
    for turn in range(200):
        queue.context.now_ms = 20_000 * turn
        queue.flush()
        queue.failed(queue.pop(), error=False)
    assert len(queue._early._heap) <= len(queue.entries)


def test_an_event_asks_about_no_pod_that_another_plug_in_turned_back() -> None:
    asked.clear()
    gate = Status(Code.UNSCHEDULABLE, ("gated",), plugin="SchedulingGates")
    gated = queue_of(*(named(f"p{n}") for n in range(20)), gate=gate)
    gated.move(Event("Pod/Add"))
    assert asked == []
    tried = queue_of(named("too large"))
    one = tried.pop()
    one.rejectors.add("NodeResourcesFit")
    tried.failed(one, error=False)
    tried.move(Event("Node/Add"))
    assert asked == ["too large"]
