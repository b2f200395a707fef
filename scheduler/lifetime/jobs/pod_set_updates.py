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
) -> tuple[dict[str, Any], list[str]]:
    """Return the podset with what its updates add, and what they contradict.

    A key keeps the value of the template, else of the flavor, else of the first check.
    """
    found, problems = dict(pod_set), []
    for update in updates:
        if update.get("name") != pod_set["name"]:
            continue
        for field in _MAPS:
            own = {**_of_template(pod_set, field), **(found.get(field) or {})}
            added = update.get(field) or {}
            problems += [
                f"{field}.{key}: {value!r} contradicts {own[key]!r}"
                for key, value in sorted(added.items())
                if own.get(key, value) != value
            ]
            new = {key: value for key, value in added.items() if key not in own}
            found[field] = {**(found.get(field) or {}), **new}
        found["tolerations"] = [
            *(found.get("tolerations") or []),
            *(update.get("tolerations") or []),
        ]
    return found, problems


def _of_template(pod_set: Mapping[str, Any], field: str) -> Mapping[str, str]:
    """Return what the podset's template says of a field."""
    template = pod_set.get("template") or {}
    part = template.get("spec" if field == "nodeSelector" else "metadata") or {}
    given: Mapping[str, str] = part.get(field) or {}
    return given
