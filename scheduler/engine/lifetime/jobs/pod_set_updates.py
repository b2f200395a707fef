"""What admission checks add to the pods of a podset: podSetUpdates, merged.

Source: docs/semantics/kueue-admission-checks.md#updates-of-podsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: The fields of an update with one value per key.
_MAPS = ("labels", "annotations", "nodeSelector")


def with_updates(
    pod_set: Mapping[str, Any], updates: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the podset with what its updates add.

    A key keeps the value of the template, else of the flavor, else of the first check.
    """
    found = dict(pod_set)
    for update in _of_pod_set(pod_set, updates):
        for field in _MAPS:
            own = {**_of_template(pod_set, field), **(found.get(field) or {})}
            added = (update.get(field) or {}).items()
            new = {key: value for key, value in added if key not in own}
            found[field] = {**(found.get(field) or {}), **new}
        found["tolerations"] = [
            *(found.get("tolerations") or []),
            *(update.get("tolerations") or []),
        ]
    return found


def contradictions(
    pod_set: Mapping[str, Any], updates: Iterable[Mapping[str, Any]]
) -> list[str]:
    """Return the updates that contradict the podset."""
    found = []
    for update in _of_pod_set(pod_set, updates):
        for field in _MAPS:
            own = {**_of_template(pod_set, field), **(pod_set.get(field) or {})}
            found += [
                f"{field}.{key}: {value!r} contradicts {own[key]!r}"
                for key, value in sorted((update.get(field) or {}).items())
                if own.get(key, value) != value
            ]
    return found


def _of_pod_set(
    pod_set: Mapping[str, Any], updates: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    return [update for update in updates if update.get("name") == pod_set["name"]]


def _of_template(pod_set: Mapping[str, Any], field: str) -> Mapping[str, str]:
    """Return what the podset's template says of a field."""
    template = pod_set.get("template") or {}
    part = template.get("spec" if field == "nodeSelector" else "metadata") or {}
    given: Mapping[str, str] = part.get(field) or {}
    return given
