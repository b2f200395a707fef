"""The fields of a pod and of nodes that keep kube-scheduler from placing it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.scheduling.scheduler import PluginTable
from scheduler.engine.kube.stage import KubeStage
from scheduler.engine.world import World
from scheduler.model.pod import Pod
from scheduler.model.selectors import (
    HARD_EFFECTS,
    Requirement,
    requirement_text,
    tolerated,
)
from scheduler.model.sentence import Sentence, few
from scheduler.words.placing import Placing


def fields_of(
    world: World, stage: KubeStage, pod: Pod, table: PluginTable
) -> Iterator[Sentence]:
    """Yield the fields, with their values, by which nodes refuse a pod, then preemption's.

    For a pod that no node takes. O(nodes).
    """
    infos = stage.nodes.node_infos
    refusing: dict[str, list[NodeInfo]] = {}
    for name, status in table.filter.items():
        refusing.setdefault(status.plugin, []).append(infos[name])
    yield from _taints(pod, refusing.get("TaintToleration", []))
    yield from _labels(pod, refusing.get("NodeAffinity", []))
    named = [term.names() for term in pod.shape.node_required or ()]
    if named and all(named):
        names = sorted({name for one in named for name in one or ()})
        yield Placing.ALONE.said(names=few(names))
    for name in pod.shape.requests.exact:
        if infos and not any(info.capacity(name) for info in infos.values()):
            known = sorted({one for i in infos.values() for one in i.node.allocatable})
            yield Placing.NO_RESOURCE.said(resource=name, known=few(known))
    yield from _preemption(world, stage, pod)


def _taints(pod: Pod, nodes: list[NodeInfo]) -> Iterator[Sentence]:
    taints = Counter(
        f"{one.key}={one.value}:{one.effect}"
        if one.value
        else f"{one.key}:{one.effect}"
        for info in nodes
        for one in info.node.taints
        if one.effect in HARD_EFFECTS and not tolerated(one, pod.shape.tolerations)
    )
    if taints:
        yield Placing.TAINTS.said(taints=few(name for name, _ in taints.most_common()))


def _labels(pod: Pod, nodes: list[NodeInfo]) -> Iterator[Sentence]:
    """Yield what is asked of the labels of nodes, and what those have that refuse it."""
    asked = [Requirement(key, "In", (value,)) for key, value in pod.shape.node_selector]
    word = Placing.SELECTOR
    terms = pod.shape.node_required or ()
    if all(one.matches(info.node.labels) for info in nodes for one in asked) and terms:
        asked, word = [*terms[0].expressions, *terms[0].fields], Placing.AFFINITY
    wanting = [
        one for one in asked if not all(one.matches(info.node.labels) for info in nodes)
    ]
    given = dict.fromkeys(
        (one.key, info.node.labels.get(one.key)) for one in wanting for info in nodes
    )
    if given:
        yield word.said(
            asked=few(requirement_text(one) for one in wanting),
            given=few(
                Placing.NO_LABEL.said(key=key) if value is None else f"{key}={value}"
                for key, value in given
            ),
        )


def _preemption(world: World, stage: KubeStage, pod: Pod) -> Iterator[Sentence]:
    """Yield the field that keeps it from preempting, where pods have several priorities."""
    lower = any(one.has_lower_priority(pod.priority) for one in stage.clusters())
    if pod.shape.never_preempts and lower:
        spec = world.objects[pod.key].spec
        name = str(spec.get("priorityClassName") or pod.key.name)
        yield Placing.NEVER.said(name=name)
    elif pod.priority > 0 and not lower:
        yield Placing.NOBODY_LOWER.said(priority=pod.priority)
