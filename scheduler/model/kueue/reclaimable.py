"""Which change of reclaimable pods the API would take.

Source: docs/semantics/kueue-lifecycle.md#reclaimable-pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.model.conditions import is_true
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Object


def check_reclaimable(obj: Object, given: Iterable[Mapping[str, Any]]) -> None:
    """Refuse reclaimable pods that a Workload cannot have.

    They name podsets, count up to the podset's count, and only grow while quota
    is held. Raises ManifestError; the object is not changed.
    """
    counts = {
        part["name"]: int(part["count"]) for part in obj.spec.get("podSets") or ()
    }
    before = {
        item["name"]: int(item["count"])
        for item in obj.status.get("reclaimablePods") or ()
    }
    held = is_true(obj.status, "QuotaReserved")
    listed: dict[str, int] = {}
    for index, item in enumerate(given):
        path = f"status.reclaimablePods[{index}]"
        name, count = _item(item, path, counts)
        if held and count < before.get(name, 0):
            raise ManifestError(
                f"{path}.count: expected no less than the {before[name]} pods of "
                f"{name} already given back while quota is held, got {count}"
            )
        listed[name] = count
    missing = sorted(
        name for name, count in before.items() if count and name not in listed
    )
    if held and missing:
        raise ManifestError(
            f"status.reclaimablePods: expected podset {missing[0]} to stay, as its "
            "pods were given back and quota is held"
        )


def _item(
    item: Mapping[str, Any], path: str, counts: Mapping[str, int]
) -> tuple[str, int]:
    name, count = str(item.get("name")), item.get("count")
    if name not in counts:
        known = ", ".join(counts)
        raise ManifestError(f"{path}.name: expected one of {known}, got {name!r}")
    if isinstance(count, bool) or not isinstance(count, int):
        raise ManifestError(f"{path}.count: expected a whole number, got {count!r}")
    if not 0 <= count <= counts[name]:
        raise ManifestError(
            f"{path}.count: expected 0 to {counts[name]}, the podset's count, got {count}"
        )
    return name, count
