"""Part of what was loaded, as objects to run and as documents to write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from scheduler.analysis.reproduction.shrinking import GoOn, shrink, shrink_groups
from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.model import durations
from scheduler.model.objects import Key, Object

_API = "quotalab.dev/v1"


def only(loaded: Loaded, kept: frozenset[Key]) -> Loaded:
    """Return the loaded input reduced to these objects."""
    return Loaded(
        objects=[obj for obj in loaded.objects if obj.key in kept],
        policy=loaded.policy,
        scenarios=loaded.scenarios,
        findings=loaded.findings,
        places={key: place for key, place in loaded.places.items() if key in kept},
        files=loaded.files,
    )


def shrink_keys(
    keys: Iterable[Key],
    is_work: Callable[[str], bool],
    shows: Callable[[Sequence[Key]], bool],
    go_on: GoOn,
) -> tuple[list[Key], bool]:
    """Return the keys that are needed, and whether none of them can be left out.

    Work is left out first, then whole kinds, then any object. Cost: as `shrink`.
    """
    work: list[Key] = []
    rest: list[Key] = []
    for key in keys:
        (work if is_work(key.kind) else rest).append(key)
    work, _ = shrink(work, lambda some: shows([*rest, *some]), go_on)
    kept = shrink_groups([*rest, *work], lambda key: key.kind, shows, go_on)
    return shrink(kept, shows, go_on)


def document_of(obj: Object) -> dict[str, Any]:
    """Return an object as a manifest, with its status where it has one."""
    manifest: dict[str, Any] = msgspec.to_builtins(obj.manifest)
    status = {"status": msgspec.to_builtins(obj.status)} if obj.status else {}
    return {**manifest, **status}


def scenario_of(
    name: str, title: str, *, seed: int, policy: dict[str, Any], horizon_ms: int
) -> dict[str, Any]:
    """Return a Scenario that runs the objects beside it with this seed and policy."""
    said = {"en": title, "zh-Hans": title, "zh-Hant": title}
    return {
        "apiVersion": _API,
        "kind": "Scenario",
        "metadata": {"name": name},
        "spec": {
            "title": said,
            "summary": said,
            "seed": seed,
            "policy": policy,
            "horizon": durations.duration_text(horizon_ms),
        },
    }
