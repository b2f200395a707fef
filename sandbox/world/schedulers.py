"""The kube-schedulers of a sandbox: what sharing the nodes has cost each of them."""

from __future__ import annotations

from typing import Any

from sandbox.models import Sandbox
from sandbox.world import history, worlds
from scheduler.engine.kube.scheduling.scheduler import Scheduler
from scheduler.engine.kube.stage import KubeStage
from scheduler.engine.world import World
from scheduler.model.policy import Simulation

Row = dict[str, Any]


def schedulers(sandbox: Sandbox, revision: int) -> list[Row]:
    """Return a row per scheduler, now or at an earlier revision; none under YuniKorn.

    Attempts, conflicts, retries and idle time count from the start of the run.
    """
    if revision != sandbox.revision:
        return _rows(history.world_at(sandbox, revision))
    with worlds.reading(sandbox) as world:
        return _rows(world)


def _rows(world: World) -> list[Row]:
    kube = world.kube
    if kube is None:
        return []
    simulation = world.policy.spec.simulation
    return [_row(kube, scheduler, simulation) for scheduler in kube.schedulers]


def _row(kube: KubeStage, scheduler: Scheduler, simulation: Simulation) -> Row:
    counts = kube.counts[scheduler.name]
    return {
        "key": f"Scheduler//{scheduler.name}",
        "kind": "Scheduler",
        "name": scheduler.name,
        "namespace": "",
        "binding": simulation.binding,
        "locking": simulation.locking if kube.several else "",
        "queued": len(scheduler.queue.entries),
        "held": len(scheduler.assumed),
        "attempts": counts.attempts,
        "bindings": counts.bindings,
        "conflicts": counts.conflicts,
        "retries": counts.retries,
        "refused": counts.refused,
        "blocked": counts.blocked,
        "idleMs": counts.idle_ms,
    }
