"""Why, asked about anything: a Workload, a job, a pod, a gang, a queue, a node, or nothing.

1. A name is looked up as people have it: with or without namespace, a job's for its
   Workload's, the begin of a pod's name, the id of an application.
2. Each kind of thing has one function that says why it is as it is.
3. Without a name all that waits is counted by what it waits for, the most first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from scheduler.analysis.explain import places, shares
from scheduler.analysis.explain.asks import reserving_of
from scheduler.analysis.explain.changes import fork_yunikorn
from scheduler.analysis.explain.fairness import formula
from scheduler.analysis.explain.past import DecidedPast, Past, befell
from scheduler.analysis.explain.placements import rejection_of
from scheduler.analysis.explain.pods import explain_pod
from scheduler.analysis.explain.queues import explain_application, queue_share
from scheduler.analysis.explain.sentences import meant, named_object
from scheduler.analysis.explain.shapes import Shape
from scheduler.analysis.explain.workloads import closed, explain, waits
from scheduler.engine.kube.cache.pod_group import ELASTIC_QUOTA, QuotaUse
from scheduler.engine.kueue.tree.tree import ClusterQueue, Cohort, QuotaNode
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.lifetime.controllers.stage import (
    CONTROLLERS,
    CRON_JOB,
    DAEMON_SET,
    DEPLOYMENT,
)
from scheduler.engine.lifetime.jobs.starting import ADMISSION_GATE
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.engine.world import World
from scheduler.engine.yunikorn.objects.model import Queue
from scheduler.engine.yunikorn.shim.pods import named_app
from scheduler.model.durations import duration_text
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object, cluster_of
from scheduler.model.problems import Form
from scheduler.model.reasons import QUOTA_RESERVED, has_ended
from scheduler.model.sentence import Quantity, Sentence, few, plain
from scheduler.words.placing import Placing
from scheduler.words.why import Asked, Befell, NotTried, Unplaced

#: Objects that are explained of a name, and that are named of a cause.
MOST_ANSWERS = 20
MOST_NAMES = 3
NO_PAST = DecidedPast()
_SHORT = re.compile(r"insufficient (?:unused )?quota for (\S+) in flavor ([^\s,]+)")
_GROUP_LABELS = (
    "scheduling.x-k8s.io/pod-group",
    "kueue.x-k8s.io/pod-group-name",
    "yunikorn.apache.org/task-group-name",
)
_APPLICATION_LABELS = (
    "applicationId",
    "yunikorn.apache.org/app-id",
    "spark-app-selector",
)


#: Kinds of what may be there without an object of its own.
_WITHOUT_OBJECT = ("Application", "Cohort", "Queue")
#: Kinds of what has pods made for it.
MAKERS = frozenset({*JOB_KINDS, *CONTROLLERS, DEPLOYMENT}) - {"Pod"}


class Answer(Shape):
    """Why one thing is as it is. `state` is "" where it has none.

    `pod` is the pod of it that speaks for all that wait, or the Workload of a pod that
    Kueue holds back; "" where none does.
    """

    about: str
    state: str
    pod: str
    sentences: list[str]
    said: list[Sentence]


class Cause(Shape):
    """How many wait for one thing, and the first of them."""

    why: str
    said: Sentence
    count: int
    names: list[str]


class Overview(Shape):
    """All that waits, counted by what it waits for, the most first.

    Where something is asked about, `answers` are about that.
    """

    at_ms: int
    tick: int
    waiting: int
    causes: list[Cause]
    answers: list[Answer]


# ------------------------------------------------------------------------
# A name, as people have it.


def answers(world: World, name: str, past: Past = NO_PAST) -> list[Answer]:
    """Return why what is named is as it is; the first `MOST_ANSWERS` of several.

    Where there are more, one answer more says so.

    `name` is `NAME`, `NAMESPACE/NAME`, `KIND/NAME` or `KIND/NAMESPACE/NAME`; `KIND/` is
    each ClusterQueue, LocalQueue, Cohort, ElasticQuota, Node or pod. `past` is what ended
    runs before now. Raises SchedulerError where nothing has that name. Cost: an
    explanation for each of these.
    """
    kind, slash, rest = name.partition("/")
    present = {*_WITHOUT_OBJECT, *(key.kind for key in world.objects)}
    kinds = {known.lower(): known for known in present}
    wanted = kinds.get(kind.lower(), "") if slash else ""
    own = rest if wanted else name
    finders = (
        _workload,
        _pods_named,
        _queue,
        _of_yunikorn,
        _elastic_quota,
        _node,
        _members,
        _podless,
    )
    for find in finders:
        found = list(islice(find(world, wanted, own, name), MOST_ANSWERS + 1))
        shown = [_with_past(world, one, past) for one in found[:MOST_ANSWERS]]
        if len(found) > MOST_ANSWERS:
            shown.append(_answer(name, "", [Asked.CUT.said(n=MOST_ANSWERS)]))
        if shown:
            return shown
    gone = [key for key in past.named(own) if wanted in ("", key.kind)]
    if not gone:
        raise SchedulerError(Form.NOT_IN_WORLD.said(key=name))
    return [
        _answer(str(key), Befell.GONE.said().text, list(befell(past.of(key))))
        for key in sorted(gone)[:MOST_ANSWERS]
    ]


def _with_past(world: World, one: Answer, past: Past) -> Answer:
    """Put what ended its last run before why it is as it is; a pod may be over."""
    key = Key(*one.about.split("/", 2)) if one.about.count("/") == 2 else None
    ends = past.of(key) if key else ()
    if key is None or not ends:
        return one
    obj = world.objects.get(key)
    said = one.said
    if key.kind in MAKERS and ends[-1].type == "Finish":
        return _answer(one.about, "finished", list(befell(ends)))
    if obj is not None and key.kind == "Pod" and has_ended(obj.status):
        reason, message = (str(obj.status.get(n, "")) for n in ("reason", "message"))
        status = Befell.STATUS.said(reason=reason, message=message)
        rejected = list(rejection_of(world, obj))
        said = rejected or ([status] if message else [])
    return _answer(one.about, one.state, [*befell(ends), *said])


def _fits(key: Key, name: str) -> bool:
    return name in ("", key.name, key.path)


def _workload(world: World, wanted: str, own: str, name: str) -> Iterator[Answer]:
    if world.kueue is None or wanted not in ("", "Workload", "Job") or not own:
        return
    key = named_object(world, name if wanted in ("", "Job") else own)
    if key is not None:
        yield about(world, key)


def about(world: World, key: Key) -> Answer:
    """Return why a Workload or a pod is as it is. Raises SchedulerError."""
    if key.kind == "Pod":
        return _pod(world, key)
    found = explain(*world.inside(key))
    return _answer(str(key), found.state, found.said)


def _pods_named(world: World, wanted: str, own: str, _: str) -> Iterator[Answer]:
    if wanted not in ("", "Pod"):
        return
    for key in sorted(world.keys("Pod")):
        if _fits(key, own) and not cluster_of(key):
            yield _pod(world, key)


def _pod(world: World, key: Key) -> Answer:
    """Return why a pod has its node or none; what its last attempt said comes first.

    Of a pod that Kueue holds back its Workload speaks.
    """
    obj = world.objects[key]
    gates = [str(one.get("name")) for one in obj.spec.get("schedulingGates") or ()]
    work = meant(world, Key("Workload", key.namespace, key.name))
    if ADMISSION_GATE in gates and work is not None and world.kueue is not None:
        said = [Placing.GATED.said(gates=few(gates)), *explain(world, work).said]
        return _answer(str(key), Asked.ON_NONE.said().text, said, work)
    try:
        found = explain_pod(world, key)
    except SchedulerError as error:
        rejected = list(rejection_of(world, obj)) or list(_no_scheduler(world, obj))
        return _answer(str(key), "", rejected or [plain(str(error))])
    state = Asked.ON_NODE.said(node=found.node) if found.node else Asked.ON_NONE.said()
    return _answer(str(key), state.text, found.said)


def _no_scheduler(world: World, obj: Object) -> Iterator[Sentence]:
    """Yield that a pod names a scheduler that is not there."""
    given, stage = str(obj.spec.get("schedulerName") or ""), world.kube
    if stage is None or not given or has_ended(world.get(obj.key).status):
        return
    known = sorted({name for one in stage.schedulers for name in one.frameworks})
    if given not in known:
        yield Placing.NO_SCHEDULER.said(given=given, known=few(known))


def _members(world: World, wanted: str, own: str, name: str) -> Iterator[Answer]:
    """Answer about what owns pods, a gang, an application, or the begin of a name."""
    if not own:
        return
    by_member = (
        lambda key: (
            _fits(places.owner_of(world.objects[key]), own)
            and wanted in ("", places.owner_of(world.objects[key]).kind)
        ),
        lambda key: any(
            _fits(Key("", key.namespace, value), own)
            for value in _labelled(world, key, (*_GROUP_LABELS, *_APPLICATION_LABELS))
        ),
        lambda key: key.name.startswith(own) or key.path.startswith(own),
    )
    keys = [key for key in sorted(world.keys("Pod")) if not cluster_of(key)]
    for belongs in by_member:
        found = [key for key in keys if belongs(key)]
        if found:
            yield _group(world, name, found)
            return


def _has_no_node(world: World, key: Key) -> bool:
    obj = world.objects[key]
    if places.names_no_node(world, obj):
        return True
    return not obj.spec.get("nodeName") and key not in world.lifetime.placed


def _labelled(world: World, key: Key, names: Iterable[str]) -> Iterator[str]:
    obj = world.objects[key]
    for label in names:
        value = obj.labels.get(label) or obj.annotations.get(label)
        if value:
            yield value


def _group(world: World, name: str, pods: list[Key]) -> Answer:
    """Return how many of these pods have a node, and why the first other one has none."""
    refused = list(places.not_made(world, places.owner_of(world.objects[pods[0]])))
    pods = [key for key in pods if not has_ended(world.objects[key].status)]
    waiting = [key for key in pods if _has_no_node(world, key)]
    if not pods:
        return _answer(name, "", refused or [Asked.ALL_OVER.said()])
    if not waiting:
        return _answer(name, "", [Asked.ALL_PLACED.said(n=len(pods)), *refused])
    first = _pod(world, waiting[0])
    said = Asked.SOME_WAIT.said(n=len(waiting), of=len(pods), pod=waiting[0].name)
    return _answer(name, "", [said, *first.said, *refused], key_of(first))


def _podless(world: World, wanted: str, own: str, _: str) -> Iterator[Answer]:
    """Answer about a job or a controller that has neither a Workload nor pods."""
    for key in sorted(world.objects):
        if key.kind in MAKERS and wanted in ("", key.kind) and _fits(key, own):
            if world.lifetime.waits(key):
                yield _answer(str(key), "future", [NotTried.FUTURE.said()])
            else:
                yield _answer(str(key), "", list(why_podless(world, key)))


def why_podless(world: World, key: Key) -> Iterator[Sentence]:
    """Yield why a job or a controller has no pods, where it has no Workload either."""
    spec = world.objects[key].spec
    none = [one for one in ("parallelism", "replicas") if spec.get(one) == 0]
    not_made = list(places.not_made(world, key))
    due = world.lifetime.job_stage.controllers.next.get(key)
    if spec.get("suspend"):
        yield Asked.SUSPENDED.said()
    elif none:
        yield Asked.WANTS_NONE.said(field=none[0])
    elif not_made:
        yield from not_made
    elif key.kind == CRON_JOB and due is not None:
        yield Asked.NEXT_JOB.said(at=duration_text(due))
    elif key.kind == DAEMON_SET:
        yield Asked.NO_NODES.said()
    elif world.kueue is not None and key.kind == "Job" and not world.keys("Node"):
        yield Asked.NO_LABEL.said()
    else:
        yield Asked.NO_PODS.said()


def _queue(world: World, wanted: str, own: str, _: str) -> Iterator[Answer]:
    if world.kueue is None:
        return
    cluster = world.kueue.cluster
    for node in cluster.forest.nodes():
        if wanted in ("", node.kind) and own in ("", node.name):
            yield _quota_node(world, node)
    for key in world.keys("LocalQueue"):
        if wanted in ("", "LocalQueue") and _fits(key, own):
            said = _line_of(world, partial(_of_queue, key))
            value = world.objects[key].spec.get("stopPolicy") or "None"
            if value != "None":
                word = NotTried.STOPPED
                why = word.said(kind="LocalQueue", queue=key.name, value=value)
                said.insert(0, Asked.ADMITS_NOTHING.said(why=why))
            yield _answer(str(key), "", said)


def _of_yunikorn(world: World, wanted: str, own: str, _: str) -> Iterator[Answer]:
    """Answer about an application by its id, or a queue by its path or its own name."""
    if world.yunikorn is None or wanted not in ("", "Queue", "Application"):
        return
    partition = fork_yunikorn(world, "YuniKorn").partition
    if own in partition.apps and wanted != "Queue":
        found = explain_application(world, own)
        said = [plain(text) for text in found.sentences]
        yield _answer(f"Application//{own}", found.state, said)
    for queue in partition.root.walk() if wanted != "Application" else ():
        if own in (queue.path, queue.path.rpartition(".")[2]):
            yield _answer(f"Queue//{queue.path}", "", list(_yunikorn_queue(queue)))


def _yunikorn_queue(queue: Queue) -> Iterator[Sentence]:
    """Yield who waits in a queue and below it, what of it is used, and its limits."""
    apps = [app for below in queue.walk() for app in below.apps.values()]
    waiting = [app for app in apps if app.has_pending]
    yield Asked.APPLICATIONS.said(waiting=len(waiting), n=len(apps))
    if waiting:
        yield Asked.FIRST.said(names=few(app.id for app in waiting))
    most, least = queue.max or {}, queue.guaranteed or {}
    for name in sorted({*queue.allocated, *most, *least}):
        used = Quantity(name, str(queue.allocated.get(name, 0)))
        limits = [
            Asked.MAX.said(amount=Quantity(name, str(most[name])))
            if name in most
            else Asked.NO_MAX.said()
        ]
        if name in least:
            amount = Quantity(name, str(least[name]))
            limits.append(Asked.GUARANTEED.said(amount=amount))
        yield Asked.OF_QUEUE.said(used=used, limits=few(limits))
    row = queue_share(queue)
    winning = next((one for one in row.fractions if one.winning), None)
    if winning is not None:
        yield Asked.FAIR_SHARE.said(
            share=f"{row.share:.6g}",
            used=Quantity(winning.resource, winning.allocated),
            whole=Quantity(winning.resource, winning.whole),
            of=winning.of,
        )
    yield from shares.of_parent(queue)
    if row.leaf:
        by = row.sort_from or "default"
        yield Asked.SORTED.said(policy=row.sort_policy, by=by)


def _of_queue(key: Key, work: WorkloadInfo) -> bool:
    return (work.namespace, work.local_queue_name) == key[1:]


def _quota_node(world: World, node: QuotaNode) -> Answer:
    """Return who waits in a ClusterQueue or cohort, for what, and what of it is used."""
    assert world.kueue is not None
    cluster = world.kueue.cluster
    inside = set(node.subtree() if isinstance(node, Cohort) else [node])

    def of(work: WorkloadInfo) -> bool:
        return (work.cluster_queue or cluster.cluster_queue_of(work)) in inside

    said = _line_of(world, of)
    why = closed(world.kueue, node) if isinstance(node, ClusterQueue) else None
    if why is not None:
        said.insert(0, Asked.ADMITS_NOTHING.said(why=why))
    for (flavor, resource), cell in sorted(node.resource_nodes.items()):
        said.append(
            Asked.USED.said(
                flavor=flavor,
                used=Quantity(resource, str(cell.usage)),
                nominal=Quantity(resource, str(cell.nominal)),
            )
        )
        if cell.subtree_quota != cell.nominal:
            of_tree = Quantity(resource, str(cell.subtree_quota))
            said.append(Asked.OF_TREE.said(flavor=flavor, quota=of_tree))
    if isinstance(node, Cohort):
        said += shares.of_cohort(world.kueue, node)
    if node.parent is not None:
        said.append(_weighted_share(node))
    return _answer(f"{node.kind}//{node.name}", "", said)


def _weighted_share(node: QuotaNode) -> Sentence:
    """Return what a queue or cohort borrows of what its cohort has, and its share of that."""
    found = formula(node)
    most = next((one for one in found.fractions if one.winning), None)
    if most is None:
        return Asked.NO_SHARE.said()
    return Asked.SHARE.said(
        borrowed=Quantity(most.resource, most.borrowed),
        lendable=Quantity(most.resource, most.lendable),
        share="infinite" if found.share is None else f"{found.share:.6g}",
        weight=f"{found.weight:g}",
    )


def _line_of(world: World, of: Callable[[WorkloadInfo], bool]) -> list[Sentence]:
    """Return how many of these Workloads run and wait, and what most wait for."""
    assert world.kueue is not None
    works = [work for work in world.kueue.cluster.workloads.values() if of(work)]
    waiting = [work for work in works if waits(work)]
    held = sum(work.reserved and not waits(work) for work in works)
    said = [Asked.LINE.said(waiting=len(waiting), held=held)]
    causes = _counted(_causes(world, waiting))
    return [*said, *(_said(cause) for cause in causes[:MOST_NAMES])]


def _node(world: World, wanted: str, own: str, _: str) -> Iterator[Answer]:
    if wanted == "Node" and not own:
        for key in sorted(world.keys("Node")):
            yield from _node(world, wanted, key.name, "")
    key = Key("Node", "", own)
    if wanted not in ("", "Node") or key not in world.objects:
        return
    said = list(_room(world, own))
    spec = world.objects[key].spec
    if spec.get("unschedulable"):
        said.append(Asked.CORDONED.said())
    said += [
        Asked.TAINT.said(taint=f"{one.get('key')}:{one.get('effect')}")
        for one in spec.get("taints") or ()
    ]
    yield _answer(str(key), "", said)


def _elastic_quota(world: World, wanted: str, own: str, _: str) -> Iterator[Answer]:
    """Answer about an ElasticQuota: what its namespace uses, is sure of, and may have."""
    if world.kube is None or wanted not in ("", ELASTIC_QUOTA):
        return
    for cluster in world.kube.clusters():
        use = QuotaUse(cluster.quotas, (pod for pod, _ in cluster.placed.values()))
        for key in world.keys(ELASTIC_QUOTA):
            quota = cluster.quotas.get(key.namespace)
            if quota is None or not _fits(key, own):
                continue
            used, most = use.used[key.namespace], quota.maximum or {}
            said = []
            for name in sorted({*quota.minimum, *most}):
                sure = Quantity(name, str(quota.minimum.get(name, 0)))
                limits = [Asked.MIN.said(amount=sure)]
                if name in most:
                    amount = Quantity(name, str(most[name]))
                    limits.append(Asked.MAX.said(amount=amount))
                holds = Quantity(name, str(used.get(name, 0)))
                said.append(Asked.OF_QUEUE.said(used=holds, limits=few(limits)))
            yield _answer(str(key), "", said)


def _room(world: World, name: str) -> Iterator[Sentence]:
    """Yield how many pods a node has, and what of it is free, as its scheduler counts."""
    if world.yunikorn is not None:
        of_partition = world.yunikorn.partition.nodes.by_name.get(name)
        if of_partition is None:
            return
        yield Asked.ALLOCATIONS.said(n=len(of_partition.allocations))
        whole, free = of_partition.capacity, of_partition.available
    elif world.kube is not None and name in world.kube.nodes.node_infos:
        info = world.kube.nodes.node_infos[name]
        yield Asked.PODS.said(n=len(info.pods), of=info.pod_limit)
        whole, used = info.node.allocatable, info.requested
        free = {one: amount - used.get(one, 0) for one, amount in whole.items()}
    else:
        return
    for resource, amount in sorted(whole.items()):
        if resource != "pods" and amount:
            left = Quantity(resource, str(free.get(resource, 0)))
            yield Asked.FREE.said(free=left, of=Quantity(resource, str(amount)))


def key_of(one: Answer) -> Key:
    """Return what an answer is about, or the pod that speaks for it, as a key."""
    return Key(*[*(one.pod or one.about).split("/"), "", ""][:3])


def _answer(
    about: str, state: str, said: list[Sentence], pod: Key | None = None
) -> Answer:
    sentences = [one.text for one in said]
    told = str(pod) if pod is not None else ""
    return Answer(about=about, state=state, said=said, sentences=sentences, pod=told)


# ------------------------------------------------------------------------
# Without a name: what waits here, and for what.


def overview(world: World, about: str = "", past: Past = NO_PAST) -> Overview:
    """Return all that waits, by what it waits for, the most common cause first.

    `about` is what is asked about besides, as `answers` takes it, and `past`.

    Workloads without quota, and pods without a node: those of Workloads that were
    admitted, and those that no Workload stands for; owners whose pods are not made.
    O(Workloads + pods).
    """
    waiting = [*_of_workloads(world), *_of_pods(world), *_of_pods_not_made(world)]
    return Overview(
        at_ms=world.context.now_ms,
        tick=world.tick,
        waiting=len(waiting),
        causes=_counted(waiting),
        answers=answers(world, about, past) if about else [],
    )


def _of_workloads(world: World) -> Iterator[tuple[Key, Sentence]]:
    if world.kueue is None:
        return
    works = world.kueue.cluster.workloads.values()
    yield from _causes(world, [work for work in works if waits(work)])


def _of_pods(world: World) -> Iterator[tuple[Key, Sentence]]:
    for pods in places.waiting_pods(world).values():
        for key in pods:
            message = places.why_unplaced(world, key)
            yield key, _of_gang(world, key, message) or _of_nodes(message)


def _of_pods_not_made(world: World) -> Iterator[tuple[Key, Sentence]]:
    for key, why in world.lifetime.job_stage.quotas.refusals.items():
        yield key, Unplaced.WITHHELD.said(why=why)
    for key, (_, _, until) in world.lifetime.failed.items():
        if until > world.context.now_ms and key in world.objects:
            yield key, Unplaced.BACKOFF.said()


def _causes(
    world: World, works: Sequence[WorkloadInfo]
) -> Iterator[tuple[Key, Sentence]]:
    """Yield what each Workload waits for.

    Who was set aside untried, as one alike was tried in vain, waits for the same.
    """
    said = {
        _likeness(work): message
        for work in works
        if _is_aside(work) and (message := _message(work))
    }
    for work in works:
        alike = said.get(_likeness(work), "") if _is_aside(work) else ""
        yield work.key, _cause(world, work, _message(work) or alike)


def _is_aside(work: WorkloadInfo) -> bool:
    queue = work.pending_queue
    return queue is not None and queue.is_inadmissible(work)


def _likeness(work: WorkloadInfo) -> tuple[int, object]:
    return id(work.pending_queue), work.scheduling_hash


def _message(work: WorkloadInfo) -> str:
    condition = work.conditions.get(QUOTA_RESERVED)
    return condition.message if condition and not condition.status else ""


def _cause(world: World, work: WorkloadInfo, message: str) -> Sentence:
    """Return what a Workload waits for, without the numbers and names of its own."""
    now_us = world.context.now_us
    if work.requeue_at_us is not None and work.requeue_at_us > now_us:
        return Asked.BACKOFF.said()
    short = dict.fromkeys(_SHORT.findall(message))
    if short:
        names = [f"{resource} in {flavor}" for resource, flavor in short]
        return Asked.NO_QUOTA.said(places=few(names))
    lost = work.pending_queue is None
    if work.evicted or not message:
        return (Asked.IN_NO_LINE if lost else Asked.IN_LINE).said()
    return plain(message)


def _of_gang(world: World, key: Key, message: str) -> Sentence | None:
    """Return that a pod of YuniKorn is not asked for before its gang has its places."""
    if world.yunikorn is None or message:
        return None
    app = world.yunikorn.partition.apps.get(named_app(world.objects[key]))
    return reserving_of(app) if app is not None else None


def _of_nodes(message: str) -> Sentence:
    """Return why nodes do not take a pod, without how many do not for what."""
    reasons, _, _ = message.partition(" preemption:")
    _, found, listed = reasons.partition(" nodes are available: ")
    if not found:
        return plain(message) if message else Asked.UNTRIED.said()
    parts = sorted(part.partition(" ")[2] for part in listed.rstrip(".").split(", "))
    return Asked.NO_NODE.said(reasons=few(parts))


def _counted(waiting: Iterable[tuple[Key, Sentence]]) -> list[Cause]:
    found: dict[str, list[Key]] = defaultdict(list)
    said: dict[str, Sentence] = {}
    for key, why in waiting:
        found[why.text].append(key)
        said.setdefault(why.text, why)
    causes = [
        Cause(
            why=text,
            said=said[text],
            count=len(keys),
            names=[str(key) for key in keys[:MOST_NAMES]],
        )
        for text, keys in found.items()
    ]
    return sorted(causes, key=lambda cause: (-cause.count, cause.why))


def _said(cause: Cause) -> Sentence:
    return Asked.CAUSE.said(n=cause.count, why=cause.said)


def lines_of(whole: Mapping[str, Any]) -> Iterator[str]:
    """Yield an `Overview`, as a document, as people read it.

    The answers alone where something was asked about.
    """
    for one in whole["answers"]:
        about = one["about"].replace("//", "/")
        yield f"{about}: {one['state']}" if one["state"] else about
        yield from (f"  {sentence}" for sentence in one["sentences"])
    if whole["answers"]:
        return
    yield f"{whole['waiting']} {'waits' if whole['waiting'] == 1 else 'wait'}"
    for cause in whole["causes"]:
        more = cause["count"] - len(cause["names"])
        yield f"  {cause['count']}: {cause['why']}"
        yield f"    {', '.join(cause['names'])}{f' and {more} more' if more else ''}"
