"""The script of a lesson: what of a scenario a sandbox keeps of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sandbox.base import library
from scheduler.model.scenario import Scenario, read_scenario

#: What a script has of a scenario's spec.
PARTS = ("title", "summary", "checkpoints", "expect")


def script_of(own: Mapping[str, Any], scenario: str) -> Scenario | None:
    """Return a lesson: a sandbox's `own` script, else the library's; None without one."""
    if own:
        return read_script(own)
    return library.scenario(scenario) if scenario else None


def script_part(scenario: Scenario) -> dict[str, Any]:
    """Return of a scenario what a script keeps; nothing where it has no stops.

    A script has no horizon: a stop says itself how far what is run beside it goes.
    """
    if not scenario.spec.checkpoints:
        return {}
    spec: dict[str, Any] = msgspec.to_builtins(scenario.spec)
    for stop in spec["checkpoints"]:
        if stop["beside"]:
            stop["until"] = stop["until"] or scenario.spec.horizon
    return {name: spec[name] for name in PARTS}


def read_script(script: Mapping[str, Any]) -> Scenario:
    """Return a script as a scenario. Raises PolicyError."""
    return read_scenario(
        {"apiVersion": "quotalab.dev/v1", "kind": "Scenario", "spec": dict(script)}
    )
