"""KubeSchedulerConfiguration to profiles: which plug-ins, in what order, how heavy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from scheduler.model import registry
from scheduler.model.errors import PolicyError, UnknownNameError
from scheduler.model.problems import Form, Problem, Wanted, expected
from scheduler.model.problems.validation import said_of_value

API = "kubescheduler.config.k8s.io/v1"
DEFAULT_NAME = "default-scheduler"

#: what a profile starts from, with the weights of those that score
DEFAULTS: dict[str, int] = {
    "SchedulingGates": 0,
    "PrioritySort": 0,
    "NodeUnschedulable": 0,
    "NodeName": 0,
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodePorts": 0,
    "NodeResourcesFit": 1,
    "VolumeRestrictions": 0,
    "NodeVolumeLimits": 0,
    "VolumeBinding": 0,
    "VolumeZone": 0,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,
    "DefaultPreemption": 0,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
    "DefaultBinder": 0,
    "NodeDeclaredFeatures": 0,
}

#: known names whose objects (features that nodes declare) are not simulated
NOT_SIMULATED = frozenset({"NodeDeclaredFeatures"})

#: configuration's name of a point -> ours, and the method whose presence shows who has it
POINTS: dict[str, tuple[str, str]] = {
    "preEnqueue": ("pre_enqueue", "pre_enqueue"),
    "queueSort": ("queue_sort", "sort_key"),
    "preFilter": ("pre_filter", "pre_filter"),
    "filter": ("filter", "filter"),
    "postFilter": ("post_filter", "post_filter"),
    "preScore": ("pre_score", "pre_score"),
    "score": ("score", "score"),
    "reserve": ("reserve", "reserve"),
    "permit": ("permit", "permit"),
    "preBind": ("pre_bind", "pre_bind"),
    "bind": ("bind", "bind"),
    "postBind": ("post_bind", "post_bind"),
}


class NoArgs(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """The arguments of a plug-in that takes none."""


@dataclass(slots=True, kw_only=True)
class Profile:
    """One profile, resolved: the names at each point, weights and arguments."""

    scheduler_name: str
    percentage: int = 0
    points: dict[str, list[str]] = field(default_factory=dict)
    weights: dict[str, int] = field(default_factory=dict)
    args: dict[str, msgspec.Struct] = field(default_factory=dict)


def plugin_class(name: str) -> Any:
    """Return the enrolled plug-in of this name; UnknownNameError lists the known."""
    return registry.lookup("plugin", name)


def read_profiles(configuration: Mapping[str, Any]) -> list[Profile]:
    """Return the profiles of a KubeSchedulerConfiguration; empty is the default one.

    Raises PolicyError and UnknownNameError naming the path, and PolicyError
    when the profiles do not share one QueueSort with equal arguments.
    Source: docs/semantics/kube-scheduler.md#order-of-plug-ins.
    """
    share = int(configuration.get("percentageOfNodesToScore") or 0)
    items = configuration.get("profiles") or [{}]
    profiles = [_profile(item, share, f"profiles[{i}]") for i, item in enumerate(items)]
    names = [profile.scheduler_name for profile in profiles]
    for name in names:
        if names.count(name) > 1:
            raise PolicyError(Problem.PROFILE_TWICE.said(name=repr(name)), "profiles")
    _check_sorts(profiles)
    return profiles


def _profile(item: Mapping[str, Any], share: int, path: str) -> Profile:
    _only(
        item,
        path,
        "schedulerName",
        "percentageOfNodesToScore",
        "plugins",
        "pluginConfig",
    )
    percentage = item.get("percentageOfNodesToScore")
    profile = Profile(
        scheduler_name=str(item.get("schedulerName") or DEFAULT_NAME),
        percentage=share if percentage is None else int(percentage),
    )
    if not 0 <= profile.percentage <= 100:
        raise PolicyError(
            expected(
                Wanted.RANGE.said(least="0", most="100"), given=profile.percentage
            ),
            f"{path}.percentageOfNodesToScore",
        )
    plugins = item.get("plugins") or {}
    _only(plugins, f"{path}.plugins", "multiPoint", *POINTS)
    multi = _multi(plugins.get("multiPoint") or {}, f"{path}.plugins.multiPoint")
    for point, (ours, method) in POINTS.items():
        where = f"{path}.plugins.{point}"
        chosen = _point(plugins.get(point) or {}, multi, method, where)
        profile.points[ours] = list(chosen)
        if ours == "score":
            profile.weights = {name: weight or 1 for name, weight in chosen.items()}
    profile.args = _args(item.get("pluginConfig") or [], f"{path}.pluginConfig")
    sorts = profile.points["queue_sort"]
    if len(sorts) != 1:
        named = ", ".join(sorts) or "none"
        raise PolicyError(expected(Wanted.SORTING, given=named), path)
    if not profile.points["bind"]:
        raise PolicyError(Form.GOT_NONE.said(wanted=Wanted.BINDING), path)
    return profile


def _only(item: Mapping[str, Any], path: str, *known: str) -> None:
    for key in item:
        if key not in known:
            names = ", ".join(known)
            raise PolicyError(Form.THIS_KEY.said(name=repr(key), known=names), path)


def _multi(item: Mapping[str, Any], path: str) -> dict[str, int]:
    """Return the MultiPoint plug-ins in order, with weights."""
    enabled = _enabled(item, path)
    removed = _disabled(item, path)
    chosen: dict[str, int] = {}
    if "*" not in removed:
        for name, weight in DEFAULTS.items():
            if name in enabled and name not in removed:
                chosen[name] = enabled.pop(name) or weight
            elif name not in removed:
                chosen[name] = weight
    return {**chosen, **enabled}


def _point(
    item: Mapping[str, Any], multi: Mapping[str, int], method: str, path: str
) -> dict[str, int]:
    """Return the plug-ins of one point in order, with weights.

    First those that set a MultiPoint one anew, then MultiPoint, then the rest.
    """
    enabled = _enabled(item, path)
    removed = _disabled(item, path)
    general = (
        {name: weight for name, weight in multi.items() if _has(name, method)}
        if "*" not in removed
        else {}
    )
    anew = {name: w for name, w in enabled.items() if name in general}
    kept = {n: w for n, w in general.items() if n not in removed and n not in anew}
    rest = {name: w for name, w in enabled.items() if name not in anew}
    chosen = {**anew, **kept, **rest}
    for name in enabled:
        if name not in NOT_SIMULATED and not _may(name, method):
            raise PolicyError(Problem.NO_POINT.said(name=name), path)
    return {name: weight for name, weight in chosen.items() if _has(name, method)}


def _has(name: str, method: str) -> bool:
    if name in NOT_SIMULATED:
        return False
    points = plugin_class(name).points
    return method in points or (method == "reserve" and "unreserve" in points)


def _may(name: str, method: str) -> bool:
    return _has(name, method) or method in plugin_class(name).idle_points


def _enabled(item: Mapping[str, Any], path: str) -> dict[str, int]:
    _only(item, path, "enabled", "disabled")
    found: dict[str, int] = {}
    for index, entry in enumerate(item.get("enabled") or ()):
        where = f"{path}.enabled[{index}]"
        _only(entry, where, "name", "weight")
        name = _known(entry, where)
        if name in found:
            raise PolicyError(Form.ENABLED_TWICE.said(name=name), where)
        found[name] = int(entry.get("weight") or 0)
    return found


def _disabled(item: Mapping[str, Any], path: str) -> set[str]:
    names = set()
    for index, entry in enumerate(item.get("disabled") or ()):
        where = f"{path}.disabled[{index}]"
        _only(entry, where, "name", "weight")
        names.add("*" if entry.get("name") == "*" else _known(entry, where))
    return names


def _known(entry: Mapping[str, Any], path: str) -> str:
    name = str(entry.get("name", ""))
    if name not in NOT_SIMULATED:
        try:
            plugin_class(name)
        except UnknownNameError as problem:
            raise UnknownNameError(problem.said, path) from problem
    return name


def _args(items: Iterable[Mapping[str, Any]], path: str) -> dict[str, msgspec.Struct]:
    found: dict[str, msgspec.Struct] = {}
    for index, entry in enumerate(items):
        where = f"{path}[{index}]"
        _only(entry, where, "name", "args")
        name = _known(entry, where)
        if name in found:
            raise PolicyError(Form.CONFIGURED_TWICE.said(name=name), where)
        if name in NOT_SIMULATED:
            continue
        kind = plugin_class(name).args_type
        given = dict(entry.get("args") or {})
        if kind is NoArgs:
            given.pop("apiVersion", None)
            given.pop("kind", None)
        try:
            found[name] = msgspec.convert(given, kind)
        except msgspec.ValidationError as problem:
            raise PolicyError(said_of_value(str(problem)), f"{where}.args") from problem
    return found


def _check_sorts(profiles: list[Profile]) -> None:
    """Refuse profiles that would order the one queue differently."""
    first = profiles[0]
    for profile in profiles[1:]:
        name = profile.points["queue_sort"][0]
        same = profile.points["queue_sort"] == first.points["queue_sort"]
        if not same or profile.args.get(name) != first.args.get(name):
            raise PolicyError(
                Problem.SAME_SORT.said(
                    first=first.scheduler_name, last=profile.scheduler_name
                )
            )
