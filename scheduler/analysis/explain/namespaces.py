"""What the namespace of a Workload keeps it from: a ClusterQueue's selector, LimitRanges."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.analysis.explain.changes import edit
from scheduler.analysis.explain.shapes import Change, Edit
from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.scheduler.nominate import limits_error
from scheduler.engine.kueue.tree.tree import ClusterQueue
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.world import World
from scheduler.model import amounts
from scheduler.model.objects import NAMESPACE_NAME, Key, namespace_labels
from scheduler.model.selectors import selector_text
from scheduler.model.sentence import Sentence, few
from scheduler.words.why import Short

#: Fields of a LimitRange that refuse what is beyond them.
_BOUNDS = ("max", "min", "maxLimitRequestRatio")
#: Parts of its requests that are tried: numerator, denominator.
_PARTS = ((3, 4), (1, 2), (1, 4), (1, 8))
#: The present value, what is said of the change, the change, its value.
Candidate = tuple[str, str, Change, str]


def sentences_of(
    world: World, cluster: Cluster, work: WorkloadInfo, queue: ClusterQueue
) -> Iterator[Sentence]:
    """Yield the fields, with their values, that keep it out whatever quota is free."""
    if not cluster.matches(queue, work.namespace):
        spec = world.objects[Key(queue.kind, "", queue.name)].spec
        selector = spec.get("namespaceSelector")
        if selector is None:
            yield Short.NO_SELECTOR.said(queue=queue.name)
            return
        namespace = world.objects.get(Key("Namespace", "", work.namespace))
        given = namespace.labels if namespace is not None else {}
        labels = namespace_labels(work.namespace, given)
        yield Short.NAMESPACE.said(
            queue=queue.name,
            asked=selector_text(selector),
            namespace=work.namespace,
            given=few([f"{key}={value}" for key, value in labels.items()]),
        )
    elif limits_error(work):
        for key in _limit_ranges(world, work):
            bounds = (
                f"{item.get('type')} {field} {name}={value}"
                for item in world.objects[key].spec.get("limits") or ()
                for field in _BOUNDS
                for name, value in (item.get(field) or {}).items()
            )
            yield Short.LIMIT_RANGE.said(name=key.name, limits=few(bounds))


def changes_of(
    world: World, cluster: Cluster, work: WorkloadInfo, queue: ClusterQueue
) -> Iterator[tuple[str, list[Candidate]]]:
    """Yield the kind of each change that may let it in, and its candidates."""
    if not cluster.matches(queue, work.namespace):
        yield _selected(world, work, queue)
    elif limits_error(work):
        for key in _limit_ranges(world, work):
            limits = [
                {name: value for name, value in item.items() if name not in _BOUNDS}
                for item in world.objects[key].spec.get("limits") or ()
            ]
            change = Change(edits=[edit(key, limits=limits)])
            said = f"LimitRange {key.name} sets neither max nor min"
            yield "limitRange", [("", said, change, key.name)]
        if smaller := list(_smaller(work)):
            yield "requests", smaller


def _limit_ranges(world: World, work: WorkloadInfo) -> list[Key]:
    found = world.keys("LimitRange")
    return sorted(key for key in found if key.namespace == work.namespace)


def _selected(
    world: World, work: WorkloadInfo, queue: ClusterQueue
) -> tuple[str, list[Candidate]]:
    """Return the labels that its Namespace lacks, or else a selector of all namespaces."""
    key = Key(queue.kind, "", queue.name)
    selector = world.objects[key].spec.get("namespaceSelector") or {}
    own = Key("Namespace", "", work.namespace)
    labels = dict(selector.get("matchLabels") or {})
    now = selector_text(selector)
    # An API server writes the name of a namespace over what is given as that label.
    named = labels.pop(NAMESPACE_NAME, own.name) == own.name
    only = labels and named and not selector.get("matchExpressions")
    if only and own in world.objects:
        patch = {"metadata": {"labels": labels}}
        change = Change(
            edits=[Edit(kind=own.kind, namespace="", name=own.name, patch=patch)]
        )
        return "namespace", [
            (now, f"Namespace {own.name} has the labels {now}", change, own.name)
        ]
    every = {"matchLabels": None, "matchExpressions": None}
    change = Change(edits=[edit(key, namespaceSelector=every)])
    said = f"namespaceSelector of {queue.name} is {{}}"
    return "namespaceSelector", [(now, said, change, queue.name)]


def _smaller(work: WorkloadInfo) -> Iterator[Candidate]:
    """Yield its pods with a part of what each of their containers asks, the most first."""
    for part, whole in _PARTS:
        pod_sets = copy.deepcopy([dict(one) for one in work.pod_set_specs])
        for one in pod_sets:
            spec = one["template"]["spec"]
            for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
                _scale(container.get("resources") or {}, part, whole)
        change = Change(edits=[edit(work.key, podSets=pod_sets)])
        said = f"each container asks for {part}/{whole} of it"
        yield "1", said, change, f"{part}/{whole}"


def _scale(resources: Mapping[str, Any], part: int, whole: int) -> None:
    given = resources.get("requests") or {}
    for name, value in given.items():
        given[name] = amounts.text_of(name, amounts.quota(name, value) * part // whole)
