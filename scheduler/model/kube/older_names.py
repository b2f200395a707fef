"""Names of older configurations, read as what replaced them.

Source: docs/semantics/kube-scheduler.md#older-configuration-names.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from scheduler.model import registry
from scheduler.model.errors import PolicyError
from scheduler.model.kube.profiles import NOT_SIMULATED
from scheduler.model.problems import Problem
from scheduler.model.sentence import Sentence, Words

FIT = "NodeResourcesFit"
_RATIO = "RequestedToCapacityRatio"
#: an older scorer -> the strategy of NodeResourcesFit that does the same
STRATEGIES = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    _RATIO: _RATIO,
}
_GROUP = "kubescheduler.config.k8s.io/"
_VERSION = "v1"

Manifest = Mapping[str, Any]


class Notice(NamedTuple):
    """What was read as something else, and where it stands."""

    path: str
    said: Sentence
    ignored: bool = False  # it has no effect here


def modernized(document: Manifest) -> tuple[dict[str, Any], list[Notice]]:
    """Return the configuration in today's names, and a notice per older one.

    The document itself is left as it is. Raises PolicyError when two older
    scorers of one profile would both become NodeResourcesFit.
    """
    made = copy.deepcopy(dict(document))
    notices = list(_version(made))
    for index, profile in enumerate(made.get("profiles") or ()):
        if isinstance(profile, dict):
            notices += _profile(profile, f"profiles[{index}]")
    return made, notices


def _version(document: dict[str, Any]) -> Iterator[Notice]:
    given = str(document.get("apiVersion") or "")
    version = given.removeprefix(_GROUP)
    if given.startswith(_GROUP) and version != _VERSION:
        document["apiVersion"] = _GROUP + _VERSION
        yield Notice(
            "apiVersion",
            ConfigurationNotice.VERSION.said(version=version, known=_VERSION),
        )


def _profile(profile: dict[str, Any], path: str) -> Iterator[Notice]:
    chosen = [
        STRATEGIES[entry["name"]]
        for entry in _enabled(profile)
        if entry.get("name") in STRATEGIES
    ]
    plugins = profile.get("plugins")
    if isinstance(plugins, dict):
        for point, item in plugins.items():
            if isinstance(item, dict):
                yield from _point(item, f"{path}.plugins.{point}")
    if profile.get("pluginConfig"):
        yield from _arguments(profile, f"{path}.pluginConfig")
    for strategy in chosen[:1]:
        _choose(profile, strategy)


def _enabled(profile: Manifest) -> list[dict[str, Any]]:
    score = (profile.get("plugins") or {}).get("score") or {}
    return list(score.get("enabled") or ())


def _choose(profile: dict[str, Any], strategy: str) -> None:
    """Give NodeResourcesFit the strategy of an older scorer, unless it has one."""
    configs = profile.setdefault("pluginConfig", [])
    entry = next((c for c in configs if c.get("name") == FIT), None)
    if entry is None:
        configs.append(entry := {"name": FIT, "args": {}})
    entry.setdefault("args", {}).setdefault("scoringStrategy", {"type": strategy})


def _point(item: dict[str, Any], path: str) -> Iterator[Notice]:
    enabled = [e for e in item.get("enabled") or () if e.get("name") in STRATEGIES]
    if len(enabled) > 1:
        names = " and ".join(str(entry["name"]) for entry in enabled)
        raise PolicyError(Problem.BOTH_READ.said(names=names, known=FIT), path)
    for entry in enabled:
        name = entry["name"]
        strategy = STRATEGIES[name]
        said = ConfigurationNotice.STRATEGY.said(
            name=name, known=FIT, strategy=strategy
        )
        yield Notice(f"{path}.enabled", said)
        entry["name"] = FIT
    disabled = item.get("disabled") or []
    older = [e for e in disabled if e.get("name") in STRATEGIES]
    if older:
        item["disabled"] = [e for e in disabled if e not in older]
        if not any(e.get("name") == FIT for e in item.get("enabled") or ()):
            item["disabled"].append({"name": FIT})
        names = ", ".join(str(entry["name"]) for entry in older)
        yield Notice(
            f"{path}.disabled", ConfigurationNotice.PLUGIN.said(name=names, known=FIT)
        )


def _arguments(profile: dict[str, Any], path: str) -> Iterator[Notice]:
    kept: list[dict[str, Any]] = []
    for index, entry in enumerate(profile["pluginConfig"]):
        name = entry.get("name")
        if name not in STRATEGIES:
            kept.append(entry)
            continue
        where = f"{path}[{index}]"
        yield Notice(where, ConfigurationNotice.ARGUMENTS.said(name=name, known=FIT))
        kept.append({"name": FIT, "args": {"scoringStrategy": _strategy(entry)}})
        if "resourceToWeightMap" in (entry.get("args") or {}):
            place = f"{where}.args.resourceToWeightMap"
            yield Notice(place, ConfigurationNotice.WEIGHTS.said())
    profile["pluginConfig"] = _joined(kept)


def _strategy(entry: Manifest) -> dict[str, Any]:
    args = entry.get("args") or {}
    strategy: dict[str, Any] = {"type": STRATEGIES[str(entry.get("name"))]}
    weights = args.get("resourceToWeightMap")
    if weights:
        strategy["resources"] = [
            {"name": name, "weight": weight} for name, weight in sorted(weights.items())
        ]
    elif args.get("resources"):
        strategy["resources"] = args["resources"]
    if args.get("shape"):
        strategy["requestedToCapacityRatio"] = {"shape": args["shape"]}
    return strategy


def _joined(configs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the arguments with those of NodeResourcesFit in one entry."""
    fits = [entry for entry in configs if entry.get("name") == FIT]
    if len(fits) < 2:
        return configs
    args: dict[str, Any] = {}
    for entry in fits:
        args.update(entry.get("args") or {})
    others = [entry for entry in configs if entry.get("name") != FIT]
    return [*others, {"name": FIT, "args": args}]


# ------------------------------------------------------------------------
# Notices of a KubeSchedulerConfiguration: older names, and settings without effect.


class ConfigurationNotice(Words, prefix="readAs"):
    """What is read as something else, or has no effect here."""

    VERSION = "{version} is read as {known}"
    PLUGIN = "{name} is read as {known}"
    STRATEGY = "{name} is read as {known} with {strategy}"
    ARGUMENTS = "arguments of {name} are read as those of {known}"
    WEIGHTS = "is read as a list of resources"
    FOREIGN = ("foreign.plugin", "plugin {name} is not known here")
    FOREIGN_NEAR = (
        "foreign.pluginNear",
        "plugin {name} is not known here; did you mean {near}?",
    )
    NO_CACHE = (
        "no cache of zones is simulated: each pod sees what the ones before it took"
    )


# ------------------------------------------------------------------------
# Plug-ins of somebody's own scheduler, which are not enrolled here.


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
            notices += _foreign_profile(profile, f"profiles[{index}]", known)
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


def _foreign_profile(
    profile: dict[str, Any], path: str, known: set[str]
) -> Iterator[Notice]:
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
