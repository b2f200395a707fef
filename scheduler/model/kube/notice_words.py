"""Notices of a KubeSchedulerConfiguration: older names, and settings without effect."""

from __future__ import annotations

from scheduler.model.sentence import Words


class ConfigurationNotice(Words):
    """What is read as something else, or has no effect here."""

    VERSION = ("readAs.version", "{version} is read as {known}")
    PLUGIN = ("readAs.plugin", "{name} is read as {known}")
    STRATEGY = ("readAs.strategy", "{name} is read as {known} with {strategy}")
    ARGUMENTS = ("readAs.arguments", "arguments of {name} are read as those of {known}")
    WEIGHTS = ("readAs.weights", "is read as a list of resources")
    FOREIGN = ("foreign.plugin", "plugin {name} is not known here")
    FOREIGN_NEAR = (
        "foreign.pluginNear",
        "plugin {name} is not known here; did you mean {near}?",
    )
    NO_CACHE = (
        "readAs.noCache",
        "no cache of zones is simulated: each pod sees what the ones before it took",
    )
