"""The sandbox's own row and its policy's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from sandbox.models import Sandbox
from sandbox.models.fields import Sayings
from sandbox.page.diffs import Page, Row
from sandbox.page.wire import PolicyRow, SandboxRow
from scheduler.analysis.conversion.unsimulated import features_of
from scheduler.engine.world import World
from scheduler.input.manifests import kinds
from scheduler.input.manifests.run_times import assumed_work
from scheduler.model.sentence import Hole, Sentence, text_of
from scheduler.words import edits
from scheduler.words.gaps import Idle

KEY = "Sandbox//sandbox"
POLICY_KEY = "Policy//policy"


def sandbox_row(world: World, sandbox: Sandbox, page: Page | None) -> Row:
    """Return the sandbox's row; with a page, what only edits change is kept from it."""
    before = (page or {}).get(KEY)
    spec, growing = world.policy.spec, world.autoscaling
    proposal = spec.proposed()
    idle, idle_said = _idle(world, before)
    row = SandboxRow(
        key=KEY,
        name="sandbox",
        id=sandbox.pk,
        title=sandbox.title,
        branch=sandbox.branch,
        parent=sandbox.parent_id,
        stack=spec.stack,
        fair_sharing=fair_sharing(spec.kueue),
        laws=spec.yunikorn.laws,
        seed=str(sandbox.seed),
        tick=sandbox.tick,
        t_ms=sandbox.now_ms,
        tick_ms=sandbox.tick_ms,
        first_tick=sandbox.kept_tick,
        playing=sandbox.playing,
        speed=sandbox.speed,
        until=until_text(sandbox.until),
        problem=str(sandbox.problem),
        problem_said=list(Sayings.of(sandbox.problem).said),
        hash=sandbox.hash[:16],
        resources=before["resources"] if before else resources_of(world),
        source=sandbox.source.get("kind", "simulated"),
        source_name=sandbox.source.get("name", ""),
        source_start=sandbox.source.get("startTime", ""),
        lag_ms=sandbox.source.get("lagMs", 0),
        last_tick=sandbox.source.get("lastTick"),
        not_simulated=idle,
        not_simulated_said=idle_said,
        cost=None if growing is None else growing.cost(),
        cost_per_hour=None if growing is None else growing.per_hour(),
        proposal=proposal.name if proposal is not None else msgspec.UNSET,
        release=dict(spec.decides_as().given()) or msgspec.UNSET,
    )
    plain: Row = msgspec.to_builtins(row)
    return plain


def _idle(world: World, before: Row | None) -> tuple[list[str], list[Sentence]]:
    """Return what has no effect here, in English and with codes."""
    if before:
        return before["notSimulated"], before["notSimulatedSaid"]
    said = not_simulated(world)
    return [one.text for one in said], said


def transport_of(sandbox: Sandbox) -> Row:
    """Return the part of the row that play, pause and speed change."""
    return {
        "title": sandbox.title,
        "firstTick": sandbox.kept_tick,
        "playing": sandbox.playing,
        "speed": sandbox.speed,
        "until": until_text(sandbox.until),
        "problem": str(sandbox.problem),
        "problemSaid": msgspec.to_builtins(Sayings.of(sandbox.problem).said),
    }


def fair_sharing(kueue: dict[str, Any]) -> bool:
    """Return whether Kueue's configuration switches fair sharing on."""
    given = kueue.get("fairSharing")
    return given is not None and given.get("enable", True) is not False


def policy_row(world: World, sandbox: Sandbox) -> Row:
    """Return the policy in force and the paths that differ from the start."""
    document = world.policy.document()
    row = PolicyRow(
        key=POLICY_KEY,
        name="policy",
        document=document,
        changed=sorted(_changed("", sandbox.start_policy, document)),
    )
    plain: Row = msgspec.to_builtins(row)
    return plain


def _changed(path: str, before: Any, after: Any) -> Iterator[str]:
    if before == after:
        return
    if not (isinstance(before, dict) and isinstance(after, dict)):
        yield path
        return
    for name in {**before, **after}:
        here = f"{path}.{name}" if path else name
        yield from _changed(here, before.get(name), after.get(name))


def until_text(until: dict[str, Any]) -> str:
    """Return in words what a running step waits for; "" when nothing."""
    words = text_of(awaited_said(until))
    if "tick" in until:
        tick = f"tick {until['tick']}"
        return f"{words} or {tick}" if words else tick
    return words


def awaited_said(until: dict[str, Any]) -> Hole:
    """Return which events a running step waits for; "" for none."""
    return edits.awaited(awaited(until), until.get("subject") or "")


def awaited(until: dict[str, Any]) -> list[str]:
    """Return the types of decisions that a running step waits for."""
    found: list[str] = until.get("types") or [t for t in [until.get("type")] if t]
    return found


def pace_of(sandbox: Sandbox) -> float:
    """Return the ticks a second that are to be made, 0 = as fast as it goes.

    A step has a pace of its own; the sandbox's speed is that of play.
    """
    pace: float = sandbox.until.get("speed", 0.0) if sandbox.until else sandbox.speed
    return pace


_FIRST = ("cpu", "memory")


def resources_of(world: World) -> list[str]:
    """Return the resources that quotas, nodes and node groups name.

    First cpu and memory, then by name. A group counts also while it has no node.
    """
    names: set[str] = set()
    for key, obj in world.objects.items():
        if key.kind in ("ClusterQueue", "Cohort"):
            for group in obj.spec.get("resourceGroups") or ():
                names.update(group.get("coveredResources") or ())
        elif key.kind == "Node":
            names.update(_capacity(obj.status))
        elif key.kind == "NodeGroup":
            names.update(_capacity(obj.spec["template"].get("status") or {}))
        elif key.kind == "InstanceType":
            names.update(_capacity(obj.spec))
    names -= {"pods"}
    return [*(n for n in _FIRST if n in names), *sorted(names - set(_FIRST))]


def _capacity(status: Mapping[str, Any]) -> Iterator[str]:
    for part in ("allocatable", "capacity"):
        yield from status.get(part) or ()


# ------------------------------------------------------------------------
# What a sandbox holds that has no effect, and what is assumed in it, as it is listed.


def not_simulated(world: World) -> list[Sentence]:
    """Return what has no effect in this world or is assumed, a sentence for each.

    Cost: O(objects).
    """
    stack = world.policy.spec.stack
    counts = Counter(key.kind for key in world.objects)
    return [
        *_assumed(world),
        *_idle_switches(world),
        *features_of(world),
        *(
            Idle.KIND.said(kind=kind, count=counts[kind], what=why)
            for kind in sorted(counts)
            if kind in kinds.BY_KIND and (why := _why(kinds.BY_KIND[kind], stack))
        ),
    ]


def _assumed(world: World) -> Iterator[Sentence]:
    """Return how much work runs for a time that nobody gave."""
    span = world.policy.spec.simulation.default_runtime
    return (said for said, _ in assumed_work(world.objects.values(), span))


def _idle_switches(world: World) -> Iterator[Sentence]:
    """Yield what the policy sets that decides nothing in this world."""
    simulation = world.policy.spec.simulation
    alone = world.kube is None or not world.kube.several
    for name, value, usual in (
        ("locking", simulation.locking, "optimistic"),
        ("binding", simulation.binding, "kubernetes"),
    ):
        if alone and value != usual:
            yield Idle.SWITCH.said(name=name, value=value)


def _why(kind: kinds.Kind, stack: str) -> Sentence | None:
    """Return why a kind decides nothing; None for one that does."""
    if kind.level == "kept":
        return kind.said or Idle.KEPT.said()
    return None if stack in kind.stacks else Idle.NO_PART.said(stack=stack)
