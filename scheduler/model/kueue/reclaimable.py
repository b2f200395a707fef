"""Which change of reclaimable pods the API would take.

Source: docs/semantics/kueue-lifecycle.md#reclaimable-pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.model.conditions import is_true
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Object
from scheduler.model.problems import Problem, Wanted, expected, in_field


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
                in_field(
                    f"{path}.count",
                    Problem.RECLAIMABLE_LEAST.said(
                        least=before[name], name=name, given=count
                    ),
                )
            )
        listed[name] = count
    missing = sorted(
        name for name, count in before.items() if count and name not in listed
    )
    if held and missing:
        raise ManifestError(
            in_field(
                "status.reclaimablePods",
                Problem.RECLAIMABLE_STAYS.said(name=missing[0]),
            )
        )


def _item(
    item: Mapping[str, Any], path: str, counts: Mapping[str, int]
) -> tuple[str, int]:
    name, count = str(item.get("name")), item.get("count")
    if name not in counts:
        known = ", ".join(counts)
        raise ManifestError(
            in_field(f"{path}.name", expected(Wanted.ONE_OF.said(known=known), name))
        )
    if isinstance(count, bool) or not isinstance(count, int):
        raise ManifestError(in_field(f"{path}.count", expected(Wanted.WHOLE, count)))
    if not 0 <= count <= counts[name]:
        raise ManifestError(
            in_field(
                f"{path}.count",
                expected(
                    Wanted.PODSET_COUNT.said(least="0", most=counts[name]), given=count
                ),
            )
        )
    return name, count
