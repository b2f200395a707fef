"""Plug-ins of somebody's own scheduler, which are not enrolled here."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler.model import registry
from scheduler.model.kube.notice_words import ConfigurationNotice
from scheduler.model.kube.older_names import STRATEGIES, Notice
from scheduler.model.kube.profiles import NOT_SIMULATED

#: Points that need a plug-in: without the foreign one the default's holds.
_NEEDED = ("queueSort", "bind")


def without_foreign_plugins(
    document: Mapping[str, Any],
) -> tuple[dict[str, Any], list[Notice]]:
    """Return the configuration without plug-ins that are not known, and a notice of each.

    A point that needs a plug-in and had foreign ones alone keeps its default. Whatever
    else is wrong stays. The document itself is left as it is. Cost: O(document).
    """
    made = copy.deepcopy(dict(document))
    known = {entry.name for entry in registry.entries("plugin")}
    known |= {*NOT_SIMULATED, *STRATEGIES, "*"}
    profiles = made.get("profiles")
    notices: list[Notice] = []
    for index, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        if isinstance(profile, dict):
            notices += _profile(profile, f"profiles[{index}]", known)
    return made, notices


def path_given(path: str, removed: Iterable[Notice]) -> str:
    """Return where a path of the configuration without plug-ins stands in the given one.

    `removed` are the notices of those that were taken out, in their order.
    """
    for notice in removed:
        holder, _, rest = notice.path.rpartition("[")
        if path.startswith(f"{holder}["):
            number, _, inside = path[len(holder) + 1 :].partition("]")
            later = int(number) + (int(rest.partition("]")[0]) <= int(number))
            path = f"{holder}[{later}]{inside}"
    return path


def _profile(profile: dict[str, Any], path: str, known: set[str]) -> Iterator[Notice]:
    plugins = profile.get("plugins")
    for point, item in plugins.items() if isinstance(plugins, dict) else ():
        if not isinstance(item, dict):
            continue
        given = bool(item.get("enabled"))
        for name in ("enabled", "disabled"):
            yield from _entries(item, name, f"{path}.plugins.{point}", known)
        if point in _NEEDED and given and not item["enabled"]:
            item.pop("disabled", None)
    yield from _entries(profile, "pluginConfig", path, known)


def _entries(
    holder: dict[str, Any], field: str, path: str, known: set[str]
) -> Iterator[Notice]:
    """Take the foreign ones out of a list of entries with names."""
    entries = holder.get(field)
    if not isinstance(entries, list):
        return
    holder[field] = []
    for index, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or name in known:
            holder[field].append(entry)
            continue
        said = ConfigurationNotice.FOREIGN.said(name=name)
        if near := difflib.get_close_matches(name, sorted(known), 1, 0.8):
            said = ConfigurationNotice.FOREIGN_NEAR.said(name=name, near=near[0])
        yield Notice(f"{path}.{field}[{index}].name", said)
