"""Nodes: add, cordon, drain, fail and bring back. Worker clusters: lose and recover."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from django.contrib.auth.models import User

from sandbox.actions.sessions import EditSession, edit_session, refuse_stale
from sandbox.base.errors import (
    Cause,
    ConflictError,
    DisruptionError,
    InvalidError,
    NotFoundError,
)
from sandbox.base.refusals import NotNow, NotTaken, Refused
from sandbox.page.diffs import RevisionDiff
from sandbox.world.commits import CommitRequest
from sandbox.world.findings import causes_of
from sandbox.world.operations import Delete, Edit, Lose, Put, Several
from scheduler.engine.kube.cache.pod_group import (
    PodDisruptionBudget,
    disruptions_allowed,
)
from scheduler.engine.lifetime.changes import TAKING, changed_node
from scheduler.engine.multikueue.checks import CLUSTER, CONNECTED, LOST
from scheduler.engine.world import World
from scheduler.input.manifests.load import load
from scheduler.model.annotations import CLUSTER as ANNOTATION
from scheduler.model.durations import stamp_text
from scheduler.model.event_words import node_lost
from scheduler.model.objects import MARK, Key, Object
from scheduler.model.problems import ApiServer, Problem, Wanted, expected
from scheduler.model.problems.library import plain_word
from scheduler.model.sentence import Sentence
from scheduler.words.edits import CLUSTER_SENTENCES, NODE_SENTENCES, Edited

Change = Literal["cordon", "uncordon", "drain", "fail", "recover"]
CHANGES: tuple[str, ...] = get_args(Change)
CLUSTER_CHANGES: tuple[str, ...] = ("lose", "recover")
_HOST = "kubernetes.io/hostname"


def do_node(
    user: User, sandbox_id: str, name: str, change: str, *, seen: int | None = None
) -> RevisionDiff:
    """Cordon, uncordon, drain, fail or recover a node."""
    if change not in CHANGES:
        problem = expected(Wanted.ONE_OF.said(known=", ".join(CHANGES)), change)
        raise InvalidError(problem, causes=[Cause(problem=problem, field="change")])
    with edit_session(user, sandbox_id) as session:
        refuse_stale(session.sandbox, seen, [str(Key("Node", "", name))])
        node = node_of(session.loaded.world, name)
        operation = change_of(node, change)
        summary = NODE_SENTENCES[change].said(who=user.get_username(), node=name)
        return _carry_out(user, session, operation, change.capitalize(), name, summary)


def change_of(node: Object, change: str) -> Edit:
    """Return the edit that a change of a node comes to.

    A drained or failed node loses its pods; those that a run owns are made
    again elsewhere. A failed one gets the taint that keeps pods away.
    """
    after = changed_node(node, change)
    statuses = {str(node.key): after.status} if after.status else {}
    put = Put(manifests=[after.manifest], statuses=statuses)
    if change not in TAKING:
        return put
    return Several([put, Lose(node.key.name, node_lost(change).text)])


def do_add_node(
    user: User,
    sandbox_id: str,
    name: str,
    *,
    like: str = "",
    labels: Mapping[str, str] | None = None,
    allocatable: Mapping[str, str] | None = None,
) -> RevisionDiff:
    """Add a node of a given size, or as large as another one and labelled like it.

    Raises ConflictError when there is one of this name, InvalidError for a size
    that is none.
    """
    with edit_session(user, sandbox_id) as session:
        put = new_node(
            session.loaded.world, name, like, labels or {}, allocatable or {}
        )
        summary = Edited.ADDS_NODE.said(who=user.get_username(), node=name)
        return _carry_out(user, session, put, "Add", name, summary)


def new_node(
    world: World,
    name: str,
    like: str,
    labels: Mapping[str, str],
    allocatable: Mapping[str, str],
) -> Put:
    """Return the edit that adds a node; raises what `do_add_node` does."""
    if Key("Node", "", name) in world.objects:
        raise ConflictError(Refused.NODE_THERE.said(node=name))
    model = node_of(world, like) if like else None
    status = dict(model.status) if model else {}
    size = {
        **(status.get("allocatable") or status.get("capacity") or {}),
        **allocatable,
    }
    if not size:
        problem = expected(Wanted.NODE_COPIED)
        raise InvalidError(
            problem, causes=[Cause(problem=problem, field="allocatable")]
        )
    cluster, _, own = name.rpartition(MARK)
    metadata: dict[str, Any] = {"annotations": {ANNOTATION: cluster}} if cluster else {}
    kept = {**(model.labels if model else {}), **labels}
    if _HOST in kept and _HOST not in labels:
        kept[_HOST] = own
    spec = {n: v for n, v in (model.spec if model else {}).items() if n == "taints"}
    document = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {**metadata, "name": own, "labels": kept},
        "spec": spec,
        "status": {"allocatable": {"pods": "110", **size}},
    }
    loaded = load((), objects=[("node", document)])
    if loaded.errors:
        raise InvalidError(NotTaken.NODE.said(), causes=causes_of(loaded.errors))
    (node,) = loaded.objects
    return Put(manifests=[node.manifest], statuses={str(node.key): node.status})


def node_of(world: World, name: str) -> Object:
    """Return a node; NotFoundError when it does not exist."""
    key = Key("Node", "", name)
    if key not in world.objects:
        raise NotFoundError(Refused.NOT_THERE.said(kind=plain_word("node"), name=name))
    return world.get(key)


def _carry_out(
    user: User,
    session: EditSession,
    operation: Edit,
    action: str,
    name: str,
    summary: Sentence,
) -> RevisionDiff:
    before: Any = session.loaded.world.objects.get(Key("Node", "", name))
    line = session.edit_event(
        user,
        action,
        str(Key("Node", "", name)),
        summary,
        before=before.manifest if before else None,
        after=_after(operation),
    )
    done = session.do(operation)
    return session.commit(
        CommitRequest(operation=done, who=user.pk, summary=summary, edits=[line])
    )


def _after(operation: Edit) -> dict[str, Any] | None:
    put = operation.parts[0] if isinstance(operation, Several) else operation
    return put.manifests[0] if isinstance(put, Put) else None


def do_cluster(
    user: User, sandbox_id: str, name: str, change: str, *, seen: int | None = None
) -> RevisionDiff:
    """Cut the manager off from a worker cluster, which goes on by itself, or not."""
    if change not in CLUSTER_CHANGES:
        problem = expected(Wanted.ONE_OF.said(known=", ".join(CLUSTER_CHANGES)), change)
        raise InvalidError(problem, causes=[Cause(problem=problem, field="change")])
    with edit_session(user, sandbox_id) as session:
        refuse_stale(session.sandbox, seen, [str(Key(CLUSTER, "", name))])
        put = cluster_change_of(session.loaded.world, name, change)
        ((key, status),) = put.statuses.items()
        words = CLUSTER_SENTENCES[change]
        summary = words.said(who=user.get_username(), cluster=name)
        line = session.edit_event(
            user, change.capitalize(), key, summary, after=status["conditions"][0]
        )
        done = session.do(put)
        return session.commit(
            CommitRequest(operation=done, who=user.pk, summary=summary, edits=[line])
        )


def cluster_change_of(world: World, name: str, change: str) -> Put:
    """Return the edit that a change of a worker cluster is. Raises NotFoundError."""
    key = Key(CLUSTER, "", name)
    known = world.objects.get(key)
    if known is None:
        raise NotFoundError(Refused.NOT_THERE.said(kind=CLUSTER, name=name))
    condition = {
        **(LOST if change == "lose" else CONNECTED),
        "lastTransitionTime": stamp_text(world.context.now_us),
    }
    return Put(
        manifests=[known.manifest], statuses={str(key): {"conditions": [condition]}}
    )


# ------------------------------------------------------------------------
# Evictions: a pod is asked to go, and goes unless a disruption budget forbids it.


def evict(
    user: User, session: EditSession, key: Key, *, dry_run: bool = False
) -> RevisionDiff | None:
    """Evict a pod within an edit that is under way; None when only asked whether it could be.

    What a run owns is made again by its owner. Raises NotFoundError, and
    DisruptionError when a PodDisruptionBudget of the pod allows no disruption now.
    Source: <https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/>
    """
    world = session.loaded.world
    if key not in world.objects:
        raise NotFoundError(ApiServer.NOT_FOUND.said(kind="pods", name=key.name))
    pod = world.get(key)
    _check(world, pod)
    if dry_run:
        return None
    summary = Edited.EVICTS.said(who=user.get_username(), pod=key.path)
    line = session.edit_event(user, "Evict", str(key), summary, before=pod.manifest)
    operation = Delete([(key.kind, key.namespace, key.name)])
    session.do(operation)
    return session.commit(
        CommitRequest(operation=operation, who=user.pk, summary=summary, edits=[line])
    )


def _check(world: World, pod: Object) -> None:
    """Refuse for the first budget with nothing left; a pod that waits harms nobody."""
    if not pod.spec.get("nodeName"):
        return
    for budget, healthy in _budgets(world, pod):
        if disruptions_allowed(budget, healthy) > 0:
            continue
        problem = Problem.BUDGET_NEEDS.said(name=budget.key.name, count=healthy)
        raise DisruptionError(
            NotNow.BUDGET.said(),
            causes=[Cause(problem=problem, field="DisruptionBudget")],
        )


def _budgets(world: World, pod: Object) -> Iterator[tuple[PodDisruptionBudget, int]]:
    holder, _ = world.inside(pod.key)
    if holder.kube is None:
        return
    cluster = holder.kube.clusters()[0]
    for budget in cluster.budgets.values():
        if budget.key.namespace == pod.key.namespace and budget.selector.matches(
            pod.labels
        ):
            counts = cluster.matching(budget.key.namespace, budget.selector)
            yield budget, sum(counts.values())
