"""A configuration resolved for readers: every profile, every plug-in, where it works."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from scheduler.model import registry
from scheduler.model.kube.configuration import read_configurations
from scheduler.model.kube.profiles import POINTS, NoArgs, Profile, plugin_class

_HEADS = ("apiVersion", "kind")


class PluginState(msgspec.Struct, rename="camel", kw_only=True):
    """One plug-in in one profile; `points` it could work at, `on` where it does.

    `weight` is None where it does not score; `args` are those in force, with
    defaults filled in, None for a plug-in that takes none.
    """

    name: str
    points: list[str]
    on: list[str]
    weight: int | None
    args: dict[str, Any] | None


class ProfileState(msgspec.Struct, rename="camel", kw_only=True):
    """One profile: the how manieth of the how manieth configuration, from 0."""

    configuration: int
    index: int
    scheduler_name: str
    percentage_of_nodes_to_score: int
    plugins: list[PluginState]


def describe(document: Mapping[str, Any]) -> list[ProfileState]:
    """Return the profiles of a KubeSchedulerConfiguration, or of a List of them.

    An empty document is the default profile. Raises PolicyError for one that
    no scheduler could start with.
    Source: docs/semantics/kube-scheduler.md#order-of-plug-ins.
    """
    return [
        ProfileState(
            configuration=configuration,
            index=index,
            scheduler_name=profile.scheduler_name,
            percentage_of_nodes_to_score=profile.percentage,
            plugins=list(_plugins(profile)),
        )
        for configuration, found in enumerate(read_configurations(document))
        for index, profile in enumerate(found.profiles)
    ]


def _plugins(profile: Profile) -> Iterator[PluginState]:
    for entry in registry.entries("plugin"):
        kind = plugin_class(entry.name)
        on = [
            point
            for point, (ours, _) in POINTS.items()
            if entry.name in profile.points[ours]
        ]
        yield PluginState(
            name=entry.name,
            points=[
                point
                for point, (_, method) in POINTS.items()
                if method in kind.points
                or (method == "reserve" and "unreserve" in kind.points)
            ],
            on=on,
            weight=profile.weights.get(entry.name) if "score" in on else None,
            args=_args(profile, entry.name, kind.args_type),
        )


def _args(
    profile: Profile, name: str, kind: type[msgspec.Struct]
) -> dict[str, Any] | None:
    if kind is NoArgs:
        return None
    known: dict[str, Any] = msgspec.to_builtins(profile.args.get(name) or kind())
    return {key: value for key, value in known.items() if key not in _HEADS}
