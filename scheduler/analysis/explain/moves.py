"""Pods that could be evicted and placed again so that another one starts, as a descheduler does.

No scheduler moves what runs. What a move would come to is run on a copy: the pod is
evicted, its node is cordoned until it has another one, and the scheduler places both.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from scheduler.analysis.forecast.submission import submitted
from scheduler.engine.kube.cache.pod_group import disruptions_allowed
from scheduler.engine.tick import simulate
from scheduler.engine.world import World, fork
from scheduler.model.decisions import Bind, Decision
from scheduler.model.objects import Key, Object, cluster_of


class Move(NamedTuple):
    """A pod that makes way and is placed again, and what that costs."""

    pod: Key
    node: str
    starts_ms: int  # when the one that waits has a node, counted from now
    lost_ms: int  # of the work of the pod that moves


def moves(world: World, waiting: Key, *, span_ms: int, limit: int) -> Iterator[Move]:
    """Yield the evictions, each by itself, that pay: the waiting pod starts by them.

    Both have a node within `span_ms`. Only pods that their owner makes again and that no
    disruption budget holds are tried, at most `limit`, those that ran least first.
    Cost: a copy each, run for `span_ms`. The world stays as it is.
    Source: <https://github.com/kubernetes-sigs/descheduler#pod-evictions>.
    """
    until_ms = world.context.now_ms + span_ms
    able = (one for one in sorted(_evictable(world)) if not _held(world, one[1]))
    for lost, pod in islice(able, limit):
        node = world.objects[_node_of(world.objects[pod])]
        copy = fork(world)
        _cordon(copy, node, closed=True)
        copy.lifetime.lose_pod(pod)
        found = simulate(copy, until_ms=until_ms, stop=_binds).decisions
        if not any(map(_binds, found)):
            continue
        _cordon(copy, node, closed=False)
        for one in simulate(copy, until_ms=until_ms).decisions:
            if _binds(one) and one.subject == waiting:
                starts_ms = one.at_ms - world.context.now_ms
                yield Move(pod, node.key.name, starts_ms, lost)
                break


def _cordon(world: World, node: Object, *, closed: bool) -> None:
    (changed,) = submitted([node], None)
    spec = changed.manifest.setdefault("spec", {})
    spec["unschedulable"] = closed or bool(spec.get("unschedulable"))
    world.put(changed)


def _binds(decision: Decision) -> bool:
    return isinstance(decision, Bind)


def _evictable(world: World) -> Iterator[tuple[int, Key]]:
    for key in world.keys("Pod"):
        pod, life = world.objects[key], world.lifetime
        owner = life.owners.get(key, key)
        run = life.runs.get(owner)
        again = owner != key or life.timing(pod).recreate
        if cluster_of(key) or run is None or not again:
            continue
        if _node_of(pod) not in world.objects:  # none, or one that is not here
            continue
        since = run.started_ms if run.started_ms is not None else 0
        yield max(0, world.context.now_ms - since), key


def _node_of(pod: Object) -> Key:
    return Key("Node", "", str(pod.spec.get("nodeName") or ""))


def _held(world: World, key: Key) -> bool:
    """Return whether a disruption budget holds a pod. O(pods of its namespace)."""
    if world.kube is None:
        return False
    cluster, pod = world.kube.clusters()[0], world.objects[key]
    return any(
        disruptions_allowed(budget, sum(counts.values())) <= 0
        for budget in cluster.budgets.values()
        if budget.key.namespace == key.namespace and budget.selector.matches(pod.labels)
        for counts in (cluster.matching(key.namespace, budget.selector),)
    )
