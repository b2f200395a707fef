"""Pins: a pod that may run on one node only, by the node affinity of its spec."""

from __future__ import annotations

import copy
from typing import Any

from django.contrib.auth.models import User

from sandbox.actions.sessions import edit_session, refuse_stale
from sandbox.base.errors import ConflictError, NotFoundError
from sandbox.base.refusals import Refused
from sandbox.page.diffs import RevisionDiff
from sandbox.world.commits import CommitRequest
from sandbox.world.operations import Delete, Edit, Put, Settle, Several
from scheduler.analysis.explain.changes import move
from scheduler.analysis.explain.sentences import meant
from scheduler.analysis.explain.shapes import Change
from scheduler.analysis.explain.shapes import Edit as Patch
from scheduler.assembly import merge
from scheduler.engine.world import World
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object, cluster_of, plain
from scheduler.model.problems.library import plain_word
from scheduler.words.edits import Edited

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_FIELD = "metadata.name"


def do_pin(
    user: User,
    sandbox_id: str,
    namespace: str,
    name: str,
    node: str,
    *,
    seen: int | None = None,
) -> RevisionDiff:
    """Pin a pod to a node, or with node "" let it go where it may.

    A pod of its own that is placed elsewhere begins again; one that a run owns
    must wait for its place, as its owner makes the next one. Raises
    NotFoundError and ConflictError.
    """
    with edit_session(user, sandbox_id) as session:
        key = Key("Pod", namespace, name)
        refuse_stale(session.sandbox, seen, [str(key)])
        world = session.loaded.world
        pod = pod_of(world, key)
        if node and Key("Node", "", node) not in world.objects:
            raise NotFoundError(
                Refused.NOT_THERE.said(kind=plain_word("node"), name=node)
            )
        operation = operation_of(world, pod, node)
        who = user.get_username()
        words = Edited.PINS if node else Edited.UNPINS
        summary = words.said(who=who, pod=name, node=node)
        line = session.edit_event(
            user,
            "Pin" if node else "Unpin",
            str(pod.key),
            summary,
            before=pinned_to(pod.spec),
            after=node,
        )
        done = session.do(operation)
        return session.commit(
            CommitRequest(operation=done, who=user.pk, summary=summary, edits=[line])
        )


def pod_of(world: World, key: Key) -> Object:
    """Return a pod, fresh; NotFoundError when it does not exist."""
    if key not in world.objects:
        raise NotFoundError(
            Refused.NOT_THERE.said(kind=plain_word("pod"), name=key.path)
        )
    return world.get(key)


def operation_of(world: World, pod: Object, node: str) -> Edit:
    """Return a pin as the operation that does it; ConflictError for an owned pod."""
    holder, key = world.inside(pod.key)
    node = _own_name(pod.key, node)
    manifest = copy.deepcopy(pod.manifest)
    placed = manifest.get("spec", {}).get("nodeName") or ""
    pin(manifest["spec"], node)
    if not node or placed in ("", node):
        return Put(manifests=[manifest])
    if holder.lifetime.owners.get(key, key) != key:
        raise ConflictError(Refused.OWNED_POD.said(pod=pod.key.path, node=placed))
    del manifest["spec"]["nodeName"]
    for name in ("uid", "creationTimestamp", "generation"):
        manifest["metadata"].pop(name, None)
    gone = Delete([(pod.key.kind, pod.key.namespace, pod.key.name)])
    return Several([gone, Put(manifests=[manifest])])


def _own_name(pod: Key, node: str) -> str:
    """Return the name that a node has in the pod's cluster; ConflictError elsewhere."""
    key = Key("Node", "", node)
    there, here = cluster_of(key), cluster_of(pod)
    if node and there != here:
        at = [
            f"worker cluster {name}" if name else "the manager"
            for name in (here, there)
        ]
        raise ConflictError(
            Refused.OTHER_CLUSTER.said(pod=pod.path, here=at[0], node=node, there=at[1])
        )
    return plain(key).name


def pinned_to(spec: dict[str, Any]) -> str:
    """Return the node that a pod is pinned to; "" for none."""
    for term in _terms(spec):
        for rule in term.get("matchFields") or ():
            if rule.get("key") == _FIELD and rule.get("operator") == "In":
                return str((rule.get("values") or [""])[0])
    return ""


def pin(spec: dict[str, Any], node: str) -> None:
    """Write the pin into a pod's spec; other rules of its node affinity stay."""
    terms = [_without_pin(term) for term in _terms(spec)]
    if node:
        rule = {"key": _FIELD, "operator": "In", "values": [node]}
        terms = [
            {**term, "matchFields": [*term.get("matchFields", ()), rule]}
            for term in terms or [{}]
        ]
    terms = [term for term in terms if term]
    affinity = dict(spec.get("affinity") or {})
    rules = dict(affinity.get("nodeAffinity") or {})
    rules.pop(_REQUIRED, None)
    if terms:
        rules[_REQUIRED] = {"nodeSelectorTerms": terms}
    _put_or_drop(affinity, "nodeAffinity", rules)
    _put_or_drop(spec, "affinity", affinity)


def _put_or_drop(holder: dict[str, Any], name: str, value: dict[str, Any]) -> None:
    if value:
        holder[name] = value
    else:
        holder.pop(name, None)


def _terms(spec: dict[str, Any]) -> list[dict[str, Any]]:
    rules = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    return list((rules.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ())


def _without_pin(term: dict[str, Any]) -> dict[str, Any]:
    fields = [r for r in term.get("matchFields") or () if r.get("key") != _FIELD]
    rest = {name: value for name, value in term.items() if name != "matchFields"}
    return {**rest, "matchFields": fields} if fields else rest


# ------------------------------------------------------------------------
# Moves: a Workload to another queue, a ClusterQueue or Cohort under another cohort.


def do_move(
    user: User, sandbox_id: str, subject: Key, target: Key, *, seen: int | None = None
) -> RevisionDiff:
    """Move an object under another; a Workload with quota is evicted first.

    A Job's name stands for its Workload's.

    Raises NotFoundError for what does not exist, ConflictError when it cannot move.
    """
    with edit_session(user, sandbox_id) as session:
        world = session.loaded.world
        subject = meant(world, subject) or subject
        refuse_stale(session.sandbox, seen, [str(subject)])
        change = change_of(world, subject, target)
        operation = move_of(world, change)
        patch = change.edits[-1].patch
        before = {name: world.objects[subject].spec.get(name) for name in patch["spec"]}
        summary = Edited.MOVES.said(
            who=user.get_username(), object=subject.path, target=str(target)
        )
        line = session.edit_event(
            user, "Move", str(subject), summary, before=before, after=patch["spec"]
        )
        done = session.do(operation)
        return session.commit(
            CommitRequest(operation=done, who=user.pk, summary=summary, edits=[line])
        )


def change_of(world: World, subject: Key, target: Key) -> Change:
    """Return the patches of a move. Raises as `do_move`."""
    for key in (subject, target):
        # A cohort need not be declared; a LocalQueue is looked up by namespace.
        loose = key.kind in ("Cohort", "LocalQueue")
        if key not in world.objects and not loose:
            raise NotFoundError(Refused.NOT_THERE.said(kind=key.kind, name=key.path))
    if world.kueue is not None:
        world.kueue.settle()
    try:
        return move(world, subject, target)
    except SchedulerError as error:
        raise ConflictError(error.said) from error


def move_of(world: World, change: Change) -> Edit:
    """Return a change as the operation that does it."""
    put = Put(manifests=[_patched(world, patch) for patch in change.edits])
    if not change.pause:
        return put
    first = Put(manifests=[_patched(world, patch) for patch in change.pause])
    return Several([first, Settle(), put])


def _patched(world: World, patch: Patch) -> dict[str, Any]:
    key = Key(patch.kind, patch.namespace, patch.name)
    if key not in world.objects:
        raise NotFoundError(Refused.NOT_THERE.said(kind=key.kind, name=key.path))
    return merge(world.objects[key].manifest, patch.patch)
