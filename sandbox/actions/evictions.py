"""Evictions: a pod is asked to go, and goes unless a disruption budget forbids it."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.auth.models import User

from sandbox.actions.sessions import EditSession
from sandbox.base.denials import NotNow
from sandbox.base.errors import (
    Cause,
    DisruptionError,
    NotFoundError,
)
from sandbox.page.diffs import RevisionDiff
from sandbox.world.commits import CommitRequest
from sandbox.world.operations import Delete
from scheduler.engine.kube.cache.pod_group import (
    PodDisruptionBudget,
    disruptions_allowed,
)
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from scheduler.model.problems import ApiServer, Problem
from scheduler.words.edits import Edited


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
