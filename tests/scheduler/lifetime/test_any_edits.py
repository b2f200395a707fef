"""Whatever is edited between two ticks: sums hold, and a stored world goes on alike."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduler.engine.tick import next_instant, simulate
from scheduler.engine.world import World
from scheduler.model.errors import SchedulerError
from scheduler.model.jobs import QUEUE
from scheduler.model.objects import Key, Object
from scheduler.model.policy import read_policy
from scheduler.model.reasons import is_true
from tests.builders import (
    Manifest,
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    workload_priority,
    world_of,
)
from tests.invariants import violations

Step = tuple[Any, ...]

ELASTIC = "kueue.x-k8s.io/elastic-job"
QUEUES = st.sampled_from("ab")
PLACE = st.integers(0, 3)  # among those that are there, in the order of their names
PODS = st.integers(1, 7)
FEW_PODS = st.integers(1, 4)
STOPS = st.sampled_from(["None", "None", "Hold", "HoldAndDrain"])
CONTROLLERS = ("DaemonSet", "ReplicaSet", "StatefulSet")
RULES: dict[str, Manifest] = {
    "default": {},
    "kept for a while": {
        "objectRetentionPolicies": {
            "workloads": {"afterFinished": "5s", "afterDeactivatedByKueue": "10s"}
        }
    },
    "ready in time": {
        "waitForPodsReady": {
            "enable": True,
            "timeout": "5s",
            "requeuingStrategy": {"backoffBaseSeconds": 3, "backoffLimitCount": 1},
        }
    },
    "fair": {"fairSharing": {"enable": True}},
    "fair within": {
        "admissionFairSharing": {
            "usageHalfLifeTime": "60s",
            "usageSamplingInterval": "10s",
        }
    },
}
NAMES = st.sampled_from(sorted(RULES))
WAIT = st.tuples(st.just("wait"), st.sampled_from([0, 500, 3_000, 10_000, 40_000]))
SCALE = st.tuples(st.just("scale"), PLACE, PODS)
STEPS = st.lists(
    st.one_of(
        WAIT,
        WAIT,
        SCALE,
        SCALE,
        st.tuples(st.just("job"), PLACE, FEW_PODS, QUEUES),
        st.tuples(st.just("rename"), PLACE, QUEUES),
        st.tuples(st.just("local queue"), QUEUES, QUEUES),
        st.tuples(st.just("quota"), QUEUES, st.integers(1, 8), STOPS),
        st.tuples(st.just("pods"), st.integers(0, 6)),
        st.tuples(st.just("active"), PLACE, st.booleans()),
        st.tuples(st.just("reclaim"), PLACE),
        st.tuples(
            st.just("remove"), st.sampled_from(["Workload", "Job", "Pod"]), PLACE
        ),
        st.tuples(
            st.just("remove"), st.sampled_from(["LocalQueue", "ResourceQuota"]), PLACE
        ),
        st.tuples(st.just("remove"), st.sampled_from(["ClusterQueue", "Node"]), PLACE),
        st.tuples(st.just("controller"), st.sampled_from(CONTROLLERS), FEW_PODS),
        st.tuples(st.just("rules"), NAMES),
    ),
    min_size=6,
    max_size=16,
)


def elastic(which: int, pods: int, queue: str, **more: Any) -> Manifest:
    made = job(f"e{which}", queue=queue, parallelism=pods, completions=8, **more)
    made["metadata"]["annotations"][ELASTIC] = "true"
    return made


def controller(kind: str, pods: int) -> Manifest:
    """Return one of plain pods; a StatefulSet is of queue a."""
    labels = {"app": kind, **({QUEUE: "a"} if kind == "StatefulSet" else {})}
    template = {"metadata": {"labels": labels}, "spec": pod("x", cpu=1)["spec"]}
    spec = {"selector": {"matchLabels": {"app": kind}}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": kind.lower(), "namespace": "default", "labels": labels},
        "spec": spec if kind == "DaemonSet" else {**spec, "replicas": pods},
    }


def quota(queue: str, cpu: int, stop: str = "None") -> Manifest:
    rules = {"within": "LowerPriority", "reclaim": "Any"}
    made = cluster_queue(queue, cohort="team", cpu=cpu, **rules)
    made["spec"]["stopPolicy"] = stop
    return made


def cluster(jobs: list[tuple[int, str, str]], rules: str, nodes: int) -> World:
    """Return two queues of a cohort with elastic jobs that begin 3 s apart."""
    made = [
        elastic(n, pods, queue, runtime="20s", arrival=f"{3 * n}s", priority_class=high)
        for n, (pods, queue, high) in enumerate(jobs)
    ]
    return world_of(
        flavor(),
        workload_priority("high", 100),
        *(quota(queue, 4) for queue in "ab"),
        *(local_queue(queue, cluster_queue=queue) for queue in "ab"),
        *(node(f"n{number}", cpu=5) for number in range(nodes)),
        *made,
        kueue=RULES[rules],
    )


def act(world: World, step: Step) -> str:
    """Carry a step out; return why it was refused, or nothing."""
    what, *more = step
    try:
        if what == "wait":
            simulate(world, until_ms=world.context.now_ms + more[0])
        elif what == "rules":
            document = world.policy.document()
            document["spec"]["kueue"] = RULES[more[0]]
            world.set_policy(read_policy(document))
        elif what in ("controller", "job", "local queue", "quota", "pods"):
            put(world, what, more)
        else:
            edit(world, what, more)
    except SchedulerError as error:
        return str(error)
    finally:
        world.take()  # as a sandbox does before it stores an edit
    return ""


def put(world: World, what: str, more: list[Any]) -> None:
    if what == "job":
        made = elastic(*more)
    elif what == "quota":
        made = quota(*more)
    elif what == "controller":
        made = controller(*more)
    elif what == "pods":
        made = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "pods", "namespace": "default"},
            "spec": {"hard": {"pods": str(more[0])}},
        }
    else:
        made = local_queue(more[0], cluster_queue=more[1])
    namespace = made["metadata"].get("namespace", "")
    key = Key(made["kind"], namespace, made["metadata"]["name"])
    world.put(Object(key=key, manifest=made))


def edit(world: World, what: str, more: list[Any]) -> None:
    """Change or remove one of the objects that are there, if any is."""
    kind = {"scale": "Job", "rename": "Job", "remove": more[0]}.get(what, "Workload")
    place = more[1] if what == "remove" else more[0]
    world.freshen()
    known = sorted(world.keys(kind))
    if not known:
        return
    key = known[place % len(known)]
    if what == "remove":
        world.delete(key)
        return
    found = world.get(key)
    manifest, status = copy.deepcopy(found.manifest), None
    if what == "scale":
        manifest["spec"]["parallelism"] = more[1]
    elif what == "rename":
        manifest["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = more[1]
    elif what == "active":
        manifest["spec"]["active"] = more[1]
    elif is_true(found.status, "Admitted"):
        status = {"reclaimablePods": [{"name": "main", "count": 1}]}
    world.put(Object(key=key, manifest=manifest, status=status or {}))


def broken(world: World) -> Iterator[str]:
    yield from violations(world)
    assert world.kueue is not None
    for name, queue in world.kueue.cluster.forest.queues.items():
        if any(
            resource_node.usage < 0 for resource_node in queue.resource_nodes.values()
        ):
            yield f"ClusterQueue {name} uses less than nothing"
    for local in world.kueue.cluster.local_queues.values():
        amounts = [*local.usage.values(), *local.admitted_usage.values()]
        if any(amount < 0 for amount in amounts):
            yield f"{local.key} uses less than nothing"
    world.freshen()
    holding = Counter(
        owner["name"]
        for key in world.keys("Workload")
        for owner in world.get(key).metadata.get("ownerReferences", ())
        if is_true(world.get(key).status, "QuotaReserved")
        and not is_true(world.get(key).status, "Finished")
    )
    yield from (
        f"{n} slices of {name} hold quota" for name, n in holding.items() if n > 1
    )


JOBS = st.lists(
    st.tuples(FEW_PODS, QUEUES, st.sampled_from(["", "high"])), min_size=1, max_size=3
)


@settings(max_examples=40, deadline=None)
@given(jobs=JOBS, steps=STEPS, rules=NAMES, nodes=st.sampled_from([0, 2]))
@example(  # only who was edited is reconciled, though the world was stored since
    [(2, "a", "")],
    [
        *[("wait", 3_000), ("scale", 0, 4), ("wait", 500)],
        *[("active", 0, False), ("local queue", "b", "a")],
    ],
    "default",
    0,
)
@example(  # a ClusterQueue that comes again counts whom it admitted before
    [(4, "b", "high")],
    [
        *[("remove", "ClusterQueue", 1), ("local queue", "b", "a")],
        *[("quota", "b", 2, "None"), ("remove", "Job", 0)],
    ],
    "default",
    0,
)
def test_sums_hold_and_a_world_stored_between_two_edits_goes_on_alike(
    jobs: list[Any], steps: list[Step], rules: str, nodes: int
) -> None:
    goes_on_alike(lambda: cluster(jobs, rules, nodes), steps)


@settings(max_examples=40, deadline=None)
@given(
    jobs=JOBS,
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("wait"), st.sampled_from([0, 0, 500, 1_000, 7_000])),
            st.tuples(st.just("pods"), st.integers(0, 9)),
            st.tuples(st.just("controller"), st.sampled_from(CONTROLLERS), FEW_PODS),
            st.tuples(
                st.just("remove"), st.sampled_from(["Pod", "ResourceQuota"]), PLACE
            ),
            SCALE,
        ),
        min_size=8,
        max_size=16,
    ),
)
def test_pods_beyond_a_quota_are_tried_alike_in_a_world_that_is_stored(
    jobs: list[Any], steps: list[Step]
) -> None:
    begun = [("pods", 2), *(("controller", kind, 2) for kind in CONTROLLERS)]
    goes_on_alike(lambda: cluster(jobs, "default", 2), [*begun, *steps])


def goes_on_alike(make: Callable[[], World], steps: list[Step]) -> None:
    """Take steps in a world, and in one that is stored before each of them."""
    world, again = make(), make()
    for step in [("wait", 0), *steps, ("wait", 400_000)]:
        again = World.decode(again.encode())
        assert act(again, step) == act(world, step)
        assert again.hash() == world.hash()
        assert next_instant(again) == next_instant(world)
        if step[0] == "wait":
            assert list(broken(world)) == []
