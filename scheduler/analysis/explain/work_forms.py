"""Work in other forms: fewer or smaller pods, another queue, without a rule, more urgent.

Each form is made of the objects as they would be submitted, and says what it changes;
`would` runs those that it asks for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from scheduler.analysis.forecast.submission import submitted
from scheduler.engine.kube.cache.pod_group import ELASTIC_QUOTA
from scheduler.engine.world import World
from scheduler.engine.yunikorn.shim.pods import APP_ID, app_id, queue_name
from scheduler.engine.yunikorn.shim.pods import QUEUE as QUEUE_LABEL
from scheduler.input.manifests.references import labels_of_pods
from scheduler.input.manifests.run_times import pods_of
from scheduler.model import amounts
from scheduler.model.jobs import PRIORITY_CLASS, QUEUE
from scheduler.model.node import HOSTNAME
from scheduler.model.objects import Key, Object, cluster_of, qualified
from scheduler.model.sentence import Items, Quantity, Sentence, few
from scheduler.model.webhooks import Webhook
from scheduler.words.why import Asked, IfSubmitted

#: Fields that count pods, and those that say how many of them must start together.
_COUNTS = ("parallelism", "replicas", "numNodes", "instances", "count")
_LEAST = ("minMember", "minCount")
#: Fields of a pod without which it may have another node, or need not wait.
_RULES = (
    "affinity",
    "topologySpreadConstraints",
    "schedulingGates",
    "hostNetwork",
    "nodeName",
    "schedulerName",
    "volumes",
    "resourceClaims",
)
#: What makes a volume bind a pod to nodes: a claim.
_OF_CLAIMS = ("persistentVolumeClaim", "ephemeral")
#: Parts of what a pod asks for that are tried: numerator, denominator.
_PARTS = ((3, 4), (1, 2), (1, 4), (1, 8))
_MOST_OF_A_KIND = 6

#: What is said of a change, and the objects as they are then.
Variant = tuple[Sentence, list[Object]]
#: How many changes belong together, and each by its number, the smallest first. A change
#: is made when it is run: work may have as many as it has pods.
Ladder = tuple[int, Callable[[int], Variant]]


def ladders(world: World, objects: Sequence[Object]) -> Iterator[Ladder]:
    """Yield changes that belong together."""
    yield from _fewer(objects)
    for few_of_a_kind in (
        [*_smaller(objects)],
        [*_free_of_selectors(objects)],
        [*_urgent(world, objects)],
        *([one] for one in _elsewhere(world, objects)),
        *([one] for one in _in_queues(world, objects)),
        *([one] for one in _tolerant(world, objects)),
        *([one] for one in _without_rules(objects)),
        *([one] for one in _in_quotas(world, objects)),
        [*_past_webhooks(world, objects)],
        *([one] for one in _with_nodes(world, objects)),
    ):
        if few_of_a_kind:
            yield len(few_of_a_kind), few_of_a_kind.__getitem__


def _changed(objects: Sequence[Object], do: Any) -> list[Object]:
    """Return copies of the objects as submitted, each given to `do`."""
    found = list(submitted(objects, None))
    for obj in found:
        do(obj)
    return found


def _pods(obj: Object) -> Iterator[dict[str, Any]]:
    """Yield the specs of pods that an object, a copy, is or holds."""
    for pod in pods_of(obj.manifest):
        yield cast("dict[str, Any]", pod)


def _fewer(objects: Sequence[Object]) -> Iterator[Ladder]:
    """Yield the work with fewer and fewer pods, and with fewer that must start together.

    Of each the largest count is made smaller.
    """
    for names in (_COUNTS, _LEAST):
        counts = [
            (holder[name], index, path)
            for index, obj in enumerate(objects)
            for path, holder, name in _counts(obj.manifest.get("spec"), "spec", names)
        ]
        if counts:
            most, index, path = max(counts, key=lambda one: one[0])
            yield most - 1, partial(_with_count, objects, names, most, index, path)


def _with_count(
    objects: Sequence[Object],
    names: Sequence[str],
    most: int,
    index: int,
    path: str,
    number: int,
) -> Variant:
    """Return the work with the count at `path` of one object so much smaller, and one."""
    count, found = most - 1 - number, list(submitted(objects, None))
    obj = found[index]
    for place, holder, name in _counts(obj.manifest.get("spec"), "spec", names):
        if place == path:
            holder[name] = count
    field_ = f"{obj.key.kind} {obj.key.name} {path}" if index else path
    return IfSubmitted.FEWER.said(field=field_, value=count, now=most), found


def _counts(
    value: Any, path: str, names: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the fields of these names that are more than one: path, who holds it, its name."""
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from _counts(one, f"{path}[{number}]", names)
    elif isinstance(value, dict) and "containers" not in value:
        for name, one in value.items():
            if name in names and type(one) is int and one > 1:
                yield f"{path}.{name}", value, name
            else:
                yield from _counts(one, f"{path}.{name}", names)


def _smaller(objects: Sequence[Object]) -> Iterator[Variant]:
    """Yield the work with pods that ask for less and less, while nothing is parted."""
    for part, whole in _PARTS:
        found, asked = list(submitted(objects, None)), dict[str, Quantity]()
        for given in [one for obj in found for one in _amounts(obj)]:
            for name, value in given.items():
                less = amounts.quota(name, value) * part
                if less % whole or less <= 0:
                    return  # a device is whole
                given[name] = amounts.text_of(name, less // whole)
                asked[name] = Quantity(name, str(less // whole))
        if asked:
            texts = Items(tuple(asked.values()))
            yield IfSubmitted.SMALLER.said(part=f"{part}/{whole}", asked=texts), found


def _amounts(obj: Object) -> Iterator[dict[str, Any]]:
    """Yield what the containers of an object, a copy, request and may use at most."""
    for pod in _pods(obj):
        for container in pod["containers"]:
            resources = container.get("resources") or {}
            for part in ("requests", "limits"):
                if resources.get(part):
                    yield resources[part]


def _free_of_selectors(objects: Sequence[Object]) -> Iterator[Variant]:
    """Yield the work without the selectors of nodes that its pods have."""
    removed: dict[str, str] = {}

    def free(obj: Object) -> None:
        for pod in _pods(obj):
            removed.update(pod.pop("nodeSelector", None) or {})

    found = _changed(objects, free)
    if removed:
        names = Items(tuple(f"{name}={value}" for name, value in removed.items()))
        yield IfSubmitted.NO_SELECTOR.said(labels=names), found


def _urgent(world: World, objects: Sequence[Object]) -> Iterator[Variant]:
    """Yield the work with each priority class that is above its own, the lowest first."""
    kueue = world.kueue is not None and any(map(_queue_of, objects))
    kind = "WorkloadPriorityClass" if kueue else "PriorityClass"
    values = {
        key.name: int(world.objects[key].manifest.get("value") or 0)
        for key in world.keys(kind)
    }
    own = max((values.get(_class_of(obj), 0) for obj in objects), default=0)
    above = sorted((v, name) for name, v in values.items() if v > own)
    for value, name in above[:_MOST_OF_A_KIND]:
        found = _changed(objects, partial(_raise, name=name, kueue=kueue))
        yield IfSubmitted.URGENT.said(kind=kind, name=name, value=value), found


def _queue_of(obj: Object) -> str:
    if obj.key.kind == "Workload":
        return str(obj.spec.get("queueName") or "")
    return obj.labels.get(QUEUE, "")


def _class_of(obj: Object) -> str:
    pods = (pod.get("priorityClassName") for pod in _pods(obj))
    return obj.labels.get(PRIORITY_CLASS) or next(filter(None, pods), "")


def _raise(obj: Object, *, name: str, kueue: bool) -> None:
    if kueue and obj.key.kind != "Workload" and _queue_of(obj):
        obj.metadata["labels"] = {**obj.labels, PRIORITY_CLASS: name}
    elif kueue and obj.key.kind == "Workload":
        group = "kueue.x-k8s.io"
        reference = {"group": group, "kind": "WorkloadPriorityClass", "name": name}
        obj.manifest["spec"]["priorityClassRef"] = reference
    elif not kueue:
        for pod in _pods(obj):
            pod["priorityClassName"] = name
            pod.pop("priority", None)


def _elsewhere(world: World, objects: Sequence[Object]) -> Iterator[Variant]:
    """Yield the work in each other LocalQueue, those of its own namespace first."""
    of_namespace = [(o.key.namespace, _queue_of(o)) for o in objects if o.key.namespace]
    own = max(of_namespace, key=lambda one: bool(one[1]), default=("", ""))
    others = [key for key in world.keys("LocalQueue") if key[1:] != own]
    others.sort(key=lambda key: (key.namespace != own[0], key))
    for key in others[:_MOST_OF_A_KIND]:
        found = list(submitted(objects, key))
        yield IfSubmitted.ELSEWHERE.said(queue=key.path), found


def _in_queues(world: World, objects: Sequence[Object]) -> Iterator[Variant]:
    """Yield the work in each other leaf of YuniKorn's tree, by the label of its pods."""
    if world.yunikorn is None:
        return
    partition = world.yunikorn.partition
    own = {name for obj in objects if (name := queue_name(obj))}
    leaves = [one.path for one in partition.root.walk() if one.sort is not None]
    for path in [one for one in leaves if one not in own][:_MOST_OF_A_KIND]:

        def send(obj: Object, path: str = path) -> None:
            sent = {QUEUE_LABEL: path}
            # An application that is there stays in its queue: the work gets its own.
            if (app := app_id(obj)) in partition.apps:
                sent[APP_ID] = f"{app}-{path.rpartition('.')[2]}"
            obj.metadata["labels"] = {**obj.labels, **sent}

        yield IfSubmitted.IN_QUEUE.said(queue=path), _changed(objects, send)


def _tolerant(world: World, objects: Sequence[Object]) -> Iterator[Variant]:
    """Yield the work with pods that tolerate a taint of a node, each by itself."""
    taints = {
        (str(one.get("key")), str(one.get("value") or ""), str(one.get("effect")))
        for key in world.keys("Node")
        for one in world.objects[key].spec.get("taints") or ()
    }
    for key, value, effect in sorted(taints)[:_MOST_OF_A_KIND]:
        toleration = {"key": key, "operator": "Equal", "value": value, "effect": effect}

        def tolerate(obj: Object, given: dict[str, str] = toleration) -> None:
            for pod in _pods(obj):
                pod["tolerations"] = [*(pod.get("tolerations") or ()), given]

        taint = f"{key}={value}:{effect}" if value else f"{key}:{effect}"
        yield IfSubmitted.TOLERANT.said(taint=taint), _changed(objects, tolerate)


def _without_rules(objects: Sequence[Object]) -> Iterator[Variant]:
    """Yield the work without each of the rules by which its pods choose nodes, or wait."""
    for field_ in _RULES:

        def free(obj: Object, name: str = field_) -> None:
            for pod in _pods(obj):
                pod.pop(name, None)

        if any(_is_bound(pod, field_) for obj in objects for pod in _pods(obj)):
            yield IfSubmitted.NO_RULE.said(field=field_), _changed(objects, free)


def _is_bound(pod: dict[str, Any], field_: str) -> bool:
    """Return whether a pod has such a rule; volumes without a claim are on every node."""
    if field_ != "volumes":
        return field_ in pod
    return any(of in one for one in pod.get(field_) or () for of in _OF_CLAIMS)


def _in_quotas(world: World, objects: Sequence[Object]) -> Iterator[Variant]:
    """Yield the work beside an ElasticQuota of its namespace with room for its pods."""
    asked = Counter[str]()
    for obj in objects:
        counts = _counts(obj.manifest.get("spec"), "spec", _COUNTS)
        pods = max((holder[name] for _, holder, name in counts), default=1)
        for container in [one for pod in _pods(obj) for one in pod["containers"]]:
            requests = (container.get("resources") or {}).get("requests") or {}
            for name, value in requests.items():
                asked[name] += pods * amounts.quota(name, value)
    own = {obj.key.namespace for obj in objects}
    for key in [one for one in world.keys(ELASTIC_QUOTA) if one.namespace in own]:
        for fields in (("max",), ("min",), ("min", "max")):
            (quota,), more = submitted([world.objects[key]], None), list[Sentence]()
            for field_ in fields:
                part = quota.manifest["spec"].get(field_) or {}
                for name in sorted(part.keys() & asked.keys()):
                    total = amounts.quota(name, part[name]) + asked[name]
                    part[name] = amounts.text_of(name, total)
                    said = Asked.MAX if field_ == "max" else Asked.MIN
                    more.append(said.said(amount=Quantity(name, str(total))))
            if more:
                beside = IfSubmitted.IN_QUOTA.said(name=key.name, limits=few(more))
                yield beside, [quota, *submitted(objects, None)]


def _past_webhooks(world: World, objects: Sequence[Object]) -> Iterator[Variant]:
    """Yield the work beside webhooks that are down and no longer refuse its pods.

    First those that take the labels of its template, then all of its namespaces.
    """
    webhooks = world.lifetime.job_stage.webhooks
    told: list[Webhook] = []
    for exactly in (True, False):
        found = {
            hook: None
            for obj in objects
            for cluster in sorted(set(map(cluster_of, webhooks.known)))
            for hook in webhooks.refusing(
                qualified(obj.key, cluster),
                labels_of_pods(obj.manifest) if exactly else None,
            )
        }
        if len(found) == len(told):
            continue
        told = [*found]
        keys = dict.fromkeys(hook.configuration for hook in told)
        given = [*submitted([world.objects[key] for key in keys], None)]
        for obj in given:
            names = {hook.name for hook in told if hook.configuration == obj.key}
            for one in obj.manifest["webhooks"]:
                if one.get("name") in names:
                    one["failurePolicy"] = "Ignore"
        said = IfSubmitted.IGNORED.said(name=few(hook.name for hook in told))
        yield said, [*given, *submitted(objects, None)]


def _with_nodes(world: World, objects: Sequence[Object]) -> Iterator[Variant]:
    """Yield the work beside a node that takes pods again, or one more like one that does."""
    nodes = [world.objects[key] for key in sorted(world.keys("Node"))]
    cordoned = [one for one in nodes if one.spec.get("unschedulable")]
    for node in cordoned[:_MOST_OF_A_KIND]:
        (again,) = submitted([node], None)
        again.manifest["spec"].pop("unschedulable")
        said = IfSubmitted.UNCORDONED.said(node=node.key.name)
        yield said, [again, *submitted(objects, None)]
    shapes = {str(one.status.get("allocatable")): one for one in nodes}
    for node in [*shapes.values()][:_MOST_OF_A_KIND]:
        (more,) = submitted([node], None)
        name = f"{node.key.name}-more"
        while Key("Node", "", name) in world.objects:
            name += "-more"
        more.metadata.update(name=name, labels={**node.labels, HOSTNAME: name})
        more.manifest.get("spec", {}).pop("unschedulable", None)
        added = replace(more, key=Key("Node", "", name))
        said = IfSubmitted.ONE_MORE.said(node=node.key.name)
        yield said, [added, *submitted(objects, None)]
