"""A recorded cluster as a world: as it stood at the begin, and each tick after it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from scheduler.assembly import prepare
from scheduler.engine.world import World
from scheduler.input.manifests.loading.loaded import rank
from scheduler.input.manifests.stack_signs import names_yunikorn
from scheduler.model.errors import SchedulerError
from scheduler.model.kueue.configuration import read_configuration
from scheduler.model.latencies import USUAL
from scheduler.model.objects import Object
from scheduler.model.policy import Policy, read_policy
from scheduler.recorded.absences import TWIN, notes_on
from scheduler.recorded.followed import configuration
from scheduler.recorded.qrec.reading import Followed, stamp
from scheduler.recorded.twin.observing import (
    Manifest,
    ObservedChange,
    is_shown,
    key_of,
    observe,
)

#: A recording has no more ticks than this, however long it is; they last longer then.
MOST_TICKS = 7_200
_LENGTHS_MS = (1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000, 600_000)


def tick_ms_for(found: Followed) -> int:
    """Return how long a tick lasts so that the recording has not too many."""
    return next(
        (one for one in _LENGTHS_MS if length_ms(found) <= one * MOST_TICKS),
        _LENGTHS_MS[-1],
    )


def length_ms(found: Followed) -> int:
    """Return the time from the recording's begin to its last event."""
    return _ms(found, found.events[-1].at_us) if found.events else 0


def begin(
    standing: Iterable[Manifest],
    configured: list[tuple[str, str]],
    *,
    start: str,
    tick_ms: int = 1000,
    seed: int = 1,
    release: Mapping[str, str] | None = None,
) -> tuple[World, list[str]]:
    """Return the world of what stood at the begin, at tick 0, and what was left out.

    `configured` are Kueue's Configuration and queues.yaml, where there are any; the
    stack is the one that they and the objects are of. `release` names what decides; with
    one that would not start with that configuration it is left out, as the cluster shows
    its rules to be otherwise. Raises SchedulerError for a configuration that cannot be read.
    """
    items = [item for item in standing if is_shown(item)]
    settings = prepare(configured).loaded.policy
    simulation = {
        "startTime": start,
        "tickMs": tick_ms,
        "latencies": msgspec.to_builtins(USUAL),
    }
    stack = settings.get("stack") or _stack_of(items, settings)
    spec: Mapping[str, Any] = {**settings, "stack": stack, "simulation": simulation}
    world = World.create(_policy(spec, release or {}), seed)
    ranked = sorted(items, key=lambda item: rank(Object(key=key_of(item), manifest={})))
    problems = observe(
        world, [ObservedChange(0, item) for item in ranked], tick=0, now_ms=0
    )
    world.context.journal.take_decisions()
    return world, problems


def _policy(spec: Mapping[str, Any], release: Mapping[str, str]) -> Policy:
    if release:
        named = {**spec, "release": {**release, **(spec.get("release") or {})}}
        with contextlib.suppress(SchedulerError):
            policy = read_policy({"spec": named})
            read_configuration(policy.spec.kueue, policy.spec.decides_as())
            return policy
    return read_policy({"spec": spec})


def begin_recording(found: Followed) -> tuple[World, list[str]]:
    """Return the world of a recording's begin, and what it left out or we did."""
    configured = configuration(found)
    world, left_out = begin(
        found.standing,
        configured,
        start=stamp(found.start_us),
        tick_ms=tick_ms_for(found),
        release=found.releases(),
    )
    if world.kueue is None:
        return world, left_out
    settings = world.kueue.settings if configured else None
    return world, notes_on(found, settings, TWIN, "the recording") + left_out


def ticks_of(found: Followed) -> Iterator[tuple[int, list[ObservedChange]]]:
    """Yield each tick in which something was seen, with that, from tick 1 on."""
    length, tick, seen = tick_ms_for(found), 0, list[ObservedChange]()
    for event in found.events:
        if not is_shown(event.object):
            continue
        at_ms = _ms(found, event.at_us)
        place = max(1, -(-at_ms // length))
        if place > tick and seen:
            yield tick, seen
            seen = []
        tick = max(place, tick)
        seen.append(ObservedChange(at_ms, event.object, event.type == "DELETED"))
    if seen:
        yield tick, seen


def _ms(found: Followed, at_us: int) -> int:
    return (at_us - found.start_us) // 1000


def _stack_of(items: list[Manifest], settings: Mapping[str, Any]) -> str:
    """Return the stack of a cluster: Kueue's where it has any object of Kueue."""
    if any("kueue.x-k8s.io" in str(item.get("apiVersion")) for item in items):
        return "kueue"
    if (settings.get("yunikorn") or {}).get("queues"):
        return "yunikorn"
    return "yunikorn" if any(map(names_yunikorn, items)) else "kueue"
