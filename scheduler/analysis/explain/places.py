"""Pods that wait for a node: those of a Workload, and those of nobody that Kueue knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from scheduler.analysis.measures.units import is_joined, unit_of
from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.scheduling.scheduler import PluginTable
from scheduler.engine.lifetime.runs import Due, Run
from scheduler.engine.world import World, fork
from scheduler.engine.yunikorn.shim.recorder import scheduled_condition
from scheduler.input.manifests.references import labels_of_pods
from scheduler.model.durations import duration_text
from scheduler.model.objects import Key, Object, cluster_of
from scheduler.model.pod import Pod
from scheduler.model.reasons import condition
from scheduler.model.sentence import Quantity, Sentence, few
from scheduler.words.why import Befell, Unplaced

_ENDED = ("Succeeded", "Failed")
#: So many members of a gang are looked at.
MOST_TRIED = 100


def awaits_nodes(world: World, key: Key) -> bool:
    """Return whether pods of a Workload are still to be made, or not all have a node.

    Where starting a Job takes time no pod is there at the instant of the admission.
    """
    run = world.lifetime.runs.get(key)
    if run is None or run.done:
        return False
    if not run.active:
        return run.step is not None and run.step[0] == Due.START
    return bool(unplaced(world, key))


def unplaced(world: World, key: Key) -> list[Key]:
    """Return the pods of a Workload that have no node."""
    run = world.lifetime.runs.get(key)
    if run is None or not run.active:
        return []
    return [pod for pod in run.pods if pod not in world.lifetime.placed]


def why_unplaced(world: World, pod: Key) -> str:
    """Return what the condition of a pod says of its last attempt; "" before the first."""
    found = scheduled_condition(world.get(pod))
    return found.get("message", "") if found is not None else ""


def sentences_of(world: World, key: Key) -> list[Sentence]:
    """Return which pods of an admitted Workload have no node, and why; none if all have.

    The first one speaks for all; then why others are not made. O(pods of the Workload +
    nodes).
    """
    run = world.lifetime.runs.get(key)
    if run is None or not world.lifetime.placement():
        return []
    return [*_without_node(world, key, run), *not_made(world, key)]


def not_made(world: World, key: Key) -> Iterator[Sentence]:
    """Yield why pods of a Workload, a job or a controller are not made: they failed, a quota."""
    owner = owner_of(world.objects[key]) if key.kind == "Workload" else key
    if owner not in world.objects:
        return
    over = condition(world.get(owner).status, "Failed")
    if over is not None and over.get("status") == "True":
        reason, message = (str(over.get(name, "")) for name in ("reason", "message"))
        yield Befell.STATUS.said(reason=reason, message=message)
        return
    failed, _, until = world.lifetime.failed.get(owner, (0, 0, 0))
    if failed:
        yield Unplaced.FAILED.said(n=failed)
    if until > world.context.now_ms:
        left = until - world.context.now_ms
        yield Unplaced.AGAIN.said(span=duration_text(left))
    for maker, why in world.lifetime.job_stage.quotas.refusals.items():
        if owner in (maker, owner_of(world.objects[maker])):
            yield Unplaced.NOT_MADE.said(why=why)
            yield from _webhook(world, world.objects[maker], why)
            yield from _next_try(world, maker)


def _webhook(world: World, maker: Object, why: str) -> Iterator[Sentence]:
    """Yield whose failurePolicy refuses pods now, and whether it keeps its own away."""
    webhooks = world.lifetime.job_stage.webhooks
    for hook in [one for found in webhooks.known.values() for one in found]:
        service = webhooks.service_of(hook)
        if service is None or hook.failure() != why:
            continue
        if not (hook.fails and webhooks.is_down(hook)):
            continue  # it was so at the last try
        labels = labels_of_pods(maker.manifest)
        refusing = webhooks.refusing(maker.key, labels)
        others = few(other.name for other in refusing if other != hook)
        said = {
            "kind": hook.configuration.kind,
            "configuration": hook.configuration.name,
            "name": hook.name,
            "service": service.key.path,
        }
        if others.items:
            yield Unplaced.WEBHOOKS.said(**said, others=others)
        else:
            yield Unplaced.WEBHOOK.said(**said)
        namespace, loop = service.key.namespace, webhooks.loop_of(hook)
        if len(loop) == 1:
            yield Unplaced.DEADLOCK.said(namespace=namespace)
        elif loop:
            names = few(one.name for one in loop[1:])
            yield Unplaced.DEADLOCKS.said(names=names, namespace=namespace)


def _next_try(world: World, maker: Key) -> Iterator[Sentence]:
    """Yield when a pod that was refused is tried again. O(runs)."""
    lifetime = world.lifetime
    tries = [
        run.step[1]
        for owner, run in lifetime.runs.items()
        if run.step is not None
        and run.step[0] == Due.REPLACE
        and maker in (owner, lifetime.job_key(owner))
    ] or [lifetime.job_stage.controllers.next.get(maker, 0)]
    if (left := min(tries) - world.context.now_ms) > 0:
        yield Unplaced.NEXT_TRY.said(span=duration_text(left))


def _without_node(world: World, key: Key, run: Run) -> list[Sentence]:
    if not awaits_nodes(world, key):
        return []
    missing = unplaced(world, key)
    if not missing:
        return [Unplaced.NONE_YET.said()]
    first = missing[0]
    said = Unplaced.SOME.said(
        n=len(missing),
        of=len(run.pods),
        pod=first.name,
        message=why_unplaced(world, first) or Unplaced.NOT_TRIED.said(),
    )
    pod = world.kube.pods.get(first) if world.kube is not None else None
    return [said, *(fragments(world, pod) if pod is not None else ())]


def fragments(world: World, pod: Pod) -> Iterator[Sentence]:
    """Yield each resource of which the nodes together have enough for a pod, and no one has."""
    assert world.kube is not None
    nodes = list(world.kube.nodes.node_infos.values())
    for resource, asked in pod.shape.requests.exact.items():
        free = [left for node in nodes if (left := _free(node, resource)) > 0]
        if asked > max(free, default=0) and asked <= sum(free):
            yield Unplaced.FRAGMENTED.said(
                free=Quantity(resource, str(sum(free))),
                nodes=len(free),
                most=Quantity(resource, str(max(free))),
                asked=Quantity(resource, str(asked)),
            )


def _free(node: NodeInfo, resource: str) -> int:
    return node.capacity(resource) - node.requested.get(resource, 0)


def together(world: World, key: Key) -> Iterator[Sentence]:
    """Yield how many of a pod's gang have room together, and what keeps the next one away.

    Nothing for a pod of no gang. Costs a copy, and a look at the nodes for each member.
    """
    gang, needed = unit_of(world, world.objects[key])
    if world.kube is None or not is_joined(gang):
        return
    pods = [pod for pod in sorted(world.keys("Pod")) if not cluster_of(pod)]
    members = [pod for pod in pods if unit_of(world, world.objects[pod])[0] == gang]
    waiting = [pod for pod in members if waits(world, pod, world.objects[pod])]
    copy, fits, of = fork(world), len(members) - len(waiting), needed or len(members)
    assert copy.kube is not None
    for pod in waiting[:MOST_TRIED]:
        if fits >= of:
            break
        table = copy.kube.table(pod)
        if table is None or not table.feasible:
            yield Unplaced.TOGETHER.said(n=fits, of=of, pod=pod.name)
            yield from _refusals(table)
            return
        given = copy.objects[pod]
        spec = {**given.spec, "nodeName": table.best[0]}
        copy.put(replace(given, manifest={**given.manifest, "spec": spec}))
        fits += 1
    known = fits >= of or len(waiting) <= MOST_TRIED
    word = Unplaced.ALL_TOGETHER if known else Unplaced.SOME_TOGETHER
    yield word.said(n=fits, of=of)


def names_no_node(world: World, obj: Object) -> str:
    """Return the node that a pod names and that is not there; "" for any other pod."""
    name = str(obj.spec.get("nodeName") or "")
    return name if name and Key("Node", "", name) not in world.objects else ""


def group_of(world: World, obj: Object) -> list[Object]:
    """Return the PodGroup that says how many pods of a pod's gang must start, if one may change.

    That of Coscheduling; the policy of an in-tree gang stays as it was made.
    """
    key, _ = unit_of(world, obj)
    known = key.kind == "PodGroup" and key in world.objects
    return [world.objects[key]] if known else []


def _refusals(table: PluginTable | None) -> Iterator[Sentence]:
    """Yield each reason for which nodes refuse a pod, and how many do."""
    refused = table.filter.values() if table is not None else ()
    counts = Counter(str(status.message) for status in refused if not status.ok)
    for why, n in sorted(counts.items()):
        yield Unplaced.REFUSED.said(n=n, why=why)


def waiting_pods(world: World) -> dict[Key, list[Key]]:
    """Return the pods that wait for a node, by what they belong to, in the order of names.

    A pod that Kueue has not let go waits for quota, not for a node, and is left out; so
    are the pods of worker clusters. O(pods).
    """
    found: dict[Key, list[Key]] = {}
    for key in sorted(world.keys("Pod")):
        obj = world.objects[key]
        if not cluster_of(key) and waits(world, key, obj):
            found.setdefault(owner_of(obj), []).append(key)
    return found


def waits(world: World, key: Key, obj: Object) -> bool:
    """Return whether a pod may run and has no node."""
    if obj.spec.get("nodeName") or key in world.lifetime.placed:
        return False
    if world.lifetime.waits(key) or obj.spec.get("schedulingGates"):
        return False
    return world.get(key).status.get("phase") not in _ENDED


def owner_of(obj: Object) -> Key:
    """Return what a pod belongs to: its owner; itself where it has none."""
    for owner in obj.metadata.get("ownerReferences") or ():
        return Key(str(owner["kind"]), obj.key.namespace, str(owner["name"]))
    return obj.key
