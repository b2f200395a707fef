"""What pinning a pod to a node would come to: the same edit on a copy that runs on."""

from __future__ import annotations

from typing import Any

import msgspec

from sandbox.actions.pins import operation_of, pod_of
from sandbox.base.errors import NotFoundError
from sandbox.base.refusals import Refused
from sandbox.models import Sandbox
from sandbox.world import worlds
from sandbox.world.operations import perform
from scheduler.analysis.explain.beside import effects, run_beside
from scheduler.analysis.explain.fork import fork
from scheduler.analysis.explain.moves import HORIZON_MS
from scheduler.analysis.explain.pods import explain_pod
from scheduler.analysis.explain.shapes import AskExplanation
from scheduler.engine.simulation import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Bind, Preempt
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, plain
from scheduler.model.problems.library import plain_word
from scheduler.model.sentence import Items, Sentence
from scheduler.words.whatif import Pinned


def preview_pin(sandbox: Sandbox, key: Key, node: str) -> dict[str, Any]:
    """Return whether a pinned pod would get its node, when, and at whose cost.

    `outcome` is "bound" or "waits"; `fits` is the verdict of the filters there
    now, before the pin. Two copies run to the horizon, without the pin and with it;
    `verdict` is what differs and `victims` are those preempted only with it. Raises
    what the pin itself would raise. Costs two copies, one table of the pod, and the
    decisions of both runs.
    """
    with worlds.reading(sandbox) as world:
        pod = pod_of(world, key)
        if node and Key("Node", "", node) not in world.objects:
            raise NotFoundError(
                Refused.NOT_THERE.said(kind=plain_word("node"), name=node)
            )
        operation = operation_of(world, pod, node)
        fits, verdict = _verdict(world, key, node)
        tick_ms = world.policy.spec.simulation.tick_ms
        copy = fork(world)
        plain = fork(world)
    now_ms = plain.context.now_ms
    perform(copy, operation)
    until_ms = now_ms + HORIZON_MS
    decisions = simulate(copy, until_ms=until_ms).decisions
    beside = run_beside(plain, decisions, horizon_ms=HORIZON_MS)
    bound = next(
        (d for d in decisions if isinstance(d, Bind) and d.subject == key), None
    )
    said = [
        *([verdict] if verdict else []),
        _result(copy, key, bound),
        *effects(beside.verdict, subject=str(key)),
    ]
    return {
        "outcome": "waits" if bound is None else "bound",
        "tick": None if bound is None else -(-bound.at_ms // tick_ms),
        "ranFrom": now_ms,
        "ranTo": until_ms,
        "node": "" if bound is None else bound.node,
        "fits": fits,
        "victims": [_victim(d) for d in beside.preempted],
        "sentences": [sentence.text for sentence in said],
        "said": msgspec.to_builtins(said),
        "verdict": msgspec.to_builtins(beside.verdict),
    }


def _verdict(world: World, key: Key, node: str) -> tuple[bool | None, Sentence | None]:
    """Return what the schedulers say of the node now; None where nobody is asked."""
    if not node:
        return None, None
    world, key = world.inside(key)
    node = plain(Key("Node", "", node)).name
    try:
        table = explain_pod(world, key)
    except SchedulerError:
        return None, None
    if isinstance(table, AskExplanation):
        found = {row.node: row.verdict for row in table.node_verdicts}.get(node)
        if found is None:
            return None, None
        if not found:
            return True, Pinned.ROOM.said(node=node)
        return False, Pinned.VERDICT.said(node=node, verdict=found)
    row = next((row for row in table.nodes if row.node == node), None)
    if row is None:
        return None, None
    if not row.fits:
        reasons = Items(tuple(row.reasons), all=True)
        return False, Pinned.REFUSES.said(plugin=row.plugin, node=node, reasons=reasons)
    place = 1 + sum(1 for other in table.nodes if (other.total or 0) > (row.total or 0))
    score, of = row.total or 0, table.feasible
    return True, Pinned.PASSES.said(node=node, score=score, place=place, of=of)


def _victim(decision: Preempt) -> dict[str, Any]:
    return {
        "workload": str(decision.subject),
        "atMs": decision.at_ms,
        "reason": decision.reason,
        "message": decision.message,
        "workLostMs": decision.work_lost_ms,
    }


def _result(copy: World, key: Key, bound: Bind | None) -> Sentence:
    if bound is not None:
        return Pinned.BOUND.said(node=bound.node)
    status = copy.get(key).status if key in copy.objects else {}
    for item in status.get("conditions") or ():
        if item.get("type") == "PodScheduled" and item.get("message"):
            return Pinned.WAITS.said(message=item["message"])
    return Pinned.WAITS_LONG.said(seconds=HORIZON_MS // 1000)
