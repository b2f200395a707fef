"""The engine and a slow second reading agree on random states, new ones each run."""

from __future__ import annotations

import math
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.engine.kube.framework.status import CycleState
from scheduler.engine.kube.preemption.dry_run import VictimSearch
from scheduler.engine.kube.scheduling.scheduler import table
from scheduler.model.decisions import PermitWait
from scheduler.model.objects import Key
from scheduler.model.pod import read_pod
from scheduler.model.requests import read_requests, read_resize
from tests.scheduler.kube import plain, plain_gangs
from tests.scheduler.kube.rig import GANG_PLUGINS, Rig, node, pod, pod_group, profile

ZONE = "topology.kubernetes.io/zone"
seeds = st.integers(0, 2**32)


def some(draw: random.Random, *names: str) -> dict[str, str]:
    """Return amounts for some of the names; nothing for the others."""
    choices = {"cpu": ["0", "250m", "2"], "memory": ["0", "64Mi", "512Mi"]}
    return {
        name: draw.choice(choices.get(name, ["2Mi", "4Mi"]))
        for name in names
        if draw.random() < 0.6
    }


def a_status(draw: random.Random, name: str) -> dict[str, Any]:
    status: dict[str, Any] = {"name": name}
    if draw.random() < 0.7:
        status["resources"] = {"requests": some(draw, "cpu", "memory")}
    if draw.random() < 0.7:
        status["allocatedResources"] = some(draw, "cpu", "memory")
    return status


def a_resized_pod(draw: random.Random, number: int) -> dict[str, Any]:
    """Return a bound pod: sidecars, pod level, and a resize in whatever state."""
    huge = "hugepages-2Mi"

    def container(name: str, **more: Any) -> dict[str, Any]:
        given = some(draw, "cpu", "memory", huge)
        return {"name": name, "resources": {"requests": given}, **more}

    inits = [
        container(f"i{n}", **draw.choice([{}, {"restartPolicy": "Always"}]))
        for n in range(draw.randrange(3))
    ]
    mains = [container(f"c{n}") for n in range(1 + draw.randrange(2))]
    made = pod(f"p{number}", nodeName="n", containers=mains, initContainers=inits)
    if draw.random() < 0.4:
        made["spec"]["resources"] = {"requests": some(draw, "cpu", "memory", huge)}
    if draw.random() < 0.3:
        made["spec"]["overhead"] = some(draw, "cpu")
    reasons = [
        draw.choice(["Infeasible", "Deferred"]) for _ in range(draw.randrange(3))
    ]
    status: dict[str, Any] = {
        "containerStatuses": [a_status(draw, c["name"]) for c in mains],
        "initContainerStatuses": [a_status(draw, c["name"]) for c in inits],
        "conditions": [{"type": "PodResizePending", "reason": r} for r in reasons],
    }
    if draw.random() < 0.5:
        status["resources"] = {"requests": some(draw, "cpu", "memory", huge)}
        status["allocatedResources"] = some(draw, "cpu", "memory")
    return {**made, "status": status}


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_node_sums_follow_a_resize_as_the_second_reading_has_it(seed: int) -> None:
    draw = random.Random(seed)
    pods = [a_resized_pod(draw, number) for number in range(4)]
    rig = Rig(node("n", cpu=64), *pods)
    want: dict[str, int] = {}
    for made in pods:
        for name, value in plain.of_pod(made).items():
            scaled = math.ceil(value * 1000 if name == "cpu" else value)
            want[name] = want.get(name, 0) + scaled
    assert rig.stage.used_on("n")[0] == {n: v for n, v in want.items() if v}
    assert list(rig.broken()) == []


def test_the_filter_asks_for_what_the_spec_says_whatever_a_resize_has_reached() -> None:
    made = pod("p", cpu=1)
    name = made["spec"]["containers"][0]["name"]
    larger = {"name": name, "resources": {"requests": {"cpu": "3"}}}
    status = {"containerStatuses": [larger]}
    requests, _ = read_requests(made["spec"], read_resize(status))
    assert (requests.asked["cpu"], requests.exact["cpu"]) == (1000, 3000)


def a_spread(draw: random.Random) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Return a preemptor with one hard constraint, nodes and bound pods."""
    nodes = [
        node(
            f"n{i}",
            cpu=64,
            labels={ZONE: f"z{draw.randrange(3)}"} if draw.random() < 0.85 else {},
        )
        for i in range(draw.randrange(2, 6))
    ]
    by_app = {"matchLabels": {"app": "a"}}
    selectors: list[Any] = [by_app, by_app, by_app, {}, {"matchLabels": {}}, None]
    constraint: dict[str, Any] = {
        "topologyKey": ZONE,
        "maxSkew": draw.choice([1, 2]),
        "whenUnsatisfiable": "DoNotSchedule",
        "minDomains": draw.choice([1, 1, 3]),
    }
    selector = draw.choice(selectors)
    if selector is not None:
        constraint["labelSelector"] = selector
    placed = []
    for number in range(draw.randrange(14)):
        made = pod(
            f"p{number}",
            labels={"app": draw.choice("aab")},
            priority=draw.choice([0, 5, 5, 20]),
            nodeName=f"n{draw.randrange(len(nodes))}",
        )
        made["metadata"]["namespace"] = draw.choice(["default", "default", "other"])
        if draw.random() < 0.4:
            made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        made["status"] = {"startTime": f"2026-01-01T00:00:{number:02}Z"}
        placed.append(made)
    wanted = pod(
        "wanted",
        labels={"app": draw.choice("ab")},
        priority=10,
        topologySpreadConstraints=[constraint],
    )
    return wanted, nodes, placed


@settings(max_examples=250, deadline=None)
@given(seeds)
def test_spread_and_its_dry_runs_are_those_of_the_second_reading(seed: int) -> None:
    draw = random.Random(seed)
    wanted, nodes, placed = a_spread(draw)
    rig = Rig(*nodes, *placed)
    scheduler = rig.stage.schedulers[0]
    probe = read_pod(wanted, {})
    names = [each["metadata"]["name"] for each in nodes]
    spread = plain.Spread(wanted, wanted["spec"]["topologySpreadConstraints"][0], nodes)
    found = table(scheduler, probe)
    assert {n: found.filter[n].ok for n in names} == {
        n: spread.passes(n, placed, {}) for n in names
    }
    framework = scheduler.frameworks["default-scheduler"]
    search = VictimSearch(framework, scheduler.cluster, scheduler.nominations, now_us=0)
    started = {p["metadata"]["name"]: i for i, p in enumerate(placed)}
    for name in (n for n in names if not found.filter[n].ok):
        state = CycleState()
        framework.pre_filter(state, probe)
        run = search.try_nodes(state, probe, [name], 1)
        got = [p.name for c in run.candidates for p in c.victims]
        want = plain.victims(spread, name, placed, started)
        assert got == (want or [])


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_a_gang_is_whole_when_its_running_and_waiting_members_are_enough(
    seed: int,
) -> None:
    draw = random.Random(seed)
    size = draw.randrange(2, 6)
    free = draw.randrange(0, 5)
    running = draw.randrange(0, 5)
    pending = draw.randrange(0, 5)
    args = {"podGroupRejectPercentage": 100}
    rig = Rig(
        node("busy", cpu=running),
        node("free", cpu=free),
        pod_group("g", size),
        *(pod(f"r{i}", group="g", nodeName="busy") for i in range(running)),
        configuration={
            "profiles": [
                profile(
                    plugins=GANG_PLUGINS,
                    pluginConfig=[{"name": "Coscheduling", "args": args}],
                )
            ],
            "featureGates": {"SchedulerPopFromBackoffQ": False},
        },
    )
    for i in range(pending):
        rig.put(pod(f"w{i}", group="g"))
    rig.run(20_000)
    started = sum(name.startswith("w") for name in rig.places())
    enough = running + min(pending, free) >= size
    assert started == (min(pending, free) if enough else 0)
    if running + 1 >= size and pending and free:
        assert not [d for d in rig.decisions if isinstance(d, PermitWait)]


def _gang_rig(world: plain_gangs.GangWorld) -> Rig:
    args = {"podGroupRejectPercentage": 100, "permitWaitingTimeSeconds": 3600}
    plugins = {**GANG_PLUGINS, "postFilter": {"disabled": [{"name": "*"}]}}
    return Rig(
        *(node(name, cpu=world.cores) for name in plain_gangs.NODES),
        *(pod_group(name, least) for name, least in world.least.items()),
        configuration={
            "profiles": [
                profile(
                    plugins=plugins,
                    pluginConfig=[{"name": "Coscheduling", "args": args}],
                )
            ],
            "featureGates": {"SchedulerPopFromBackoffQ": False},
        },
    )


def _gang_member(member: plain_gangs.Member) -> dict[str, Any]:
    bound = {"nodeName": member.node} if member.state == plain_gangs.BOUND else {}
    return pod(
        member.name,
        cpu=member.cores,
        priority=member.priority,
        group=member.group,
        nodeSelector={"kubernetes.io/hostname": member.node},
        **bound,
    )


def _gang_states(rig: Rig) -> dict[str, str]:
    [scheduler] = rig.stage.schedulers
    found = dict.fromkeys(rig.places(), plain_gangs.BOUND)
    found |= {key.name: plain_gangs.PENDING for key in scheduler.queue.entries}
    return found | {key.name: plain_gangs.WAITING for key in scheduler.assumed}


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_gangs_of_several_sizes_with_members_that_run_are_those_of_the_second_reading(
    seed: int,
) -> None:
    world = plain_gangs.drawn(random.Random(seed))
    rig = _gang_rig(world)
    now = 0
    reading = world.run()
    for each in world.rounds:
        for member in each.come:
            rig.put(_gang_member(member))
        goes = world.goes(each)
        if goes is not None:
            rig.remove(Key("Pod", "default", goes.name))
        now += plain_gangs.ROUND_MS
        rig.run(now - 1)
        assert _gang_states(rig) == next(reading)
