"""A run that begins in the middle: what holds and waits already is taken over."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from scheduler.analysis.measures.ledger import Ledger
from scheduler.analysis.measures.subjects import Subject
from scheduler.engine.world import World
from scheduler.model.amounts import canonical
from scheduler.model.conditions import has_ended
from scheduler.model.decisions import Admit, Bind, Decision, PodSetAdmission
from scheduler.model.objects import Key


class AdoptingRun(Protocol):
    """The measures of a run, as far as what holds and waits is entered in them."""

    world: World
    kind: str
    ledger: Ledger

    def observe(self, decisions: Iterable[Decision]) -> None:
        """Take decisions, in order."""

    def subject(self, key: Key) -> Subject:
        """Return the record of a subject."""


def adopt(run: AdoptingRun) -> None:
    """Enter what the world holds now; nothing of it counts as an arrival."""
    world = run.world
    if not world.lifetime.arrived:
        return
    for key in sorted(world.own_objects()):
        if key.kind in (run.kind, "Pod") and key in world.lifetime.arrived:
            _adopt_workload(run, key) if key.kind == "Workload" else _adopt_pod(
                run, key
            )


def _adopt_workload(run: AdoptingRun, key: Key) -> None:
    kueue = run.world.kueue
    work = kueue.cluster.workloads.get(key) if kueue is not None else None
    if work is None or work.finished or work.parent is not None:
        return
    if work.reserved and work.admission is not None:
        run.observe([_admission(run, key)])
    elif work.active:
        run.ledger.wait(key, run.subject(key))


def _admission(run: AdoptingRun, key: Key) -> Admit:
    """Return the admission in force, as if it were decided now."""
    admission = run.world.get(key).status["admission"]
    return Admit(
        at_ms=run.world.context.now_ms,
        subject=key,
        queue=str(admission["clusterQueue"]),
        pod_sets=tuple(
            PodSetAdmission(
                part["name"],
                int(part.get("count") or 0),
                part.get("flavors") or {},
                _usage(part),
            )
            for part in admission.get("podSetAssignments") or ()
        ),
    )


def _usage(part: dict[str, dict[str, str]]) -> dict[str, int]:
    usage = part.get("resourceUsage") or {}
    return {resource: canonical(resource, text) for resource, text in usage.items()}


def _adopt_pod(run: AdoptingRun, key: Key) -> None:
    world = run.world
    now = world.context.now_ms
    if node := world.lifetime.placed.get(key):
        run.observe([Bind(at_ms=now, subject=key, node=node)])
    elif run.kind == "Pod" and not has_ended(world.objects[key].status):
        run.ledger.wait(key, run.subject(key))
