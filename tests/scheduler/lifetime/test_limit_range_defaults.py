"""LimitRange defaults beside a second, slow reading of their text, on other states each run.

Source: docs/semantics/kube-scheduler.md#admission-before-scheduling.
"""

from __future__ import annotations

import random
from typing import Any

from scheduler.records.objects import Key
from tests.builders import node, pod, world_of
from tests.draws import fresh

_FIELDS = {"min": "1", "defaultRequest": "2", "default": "4", "max": "8"}


def asked(resources: dict[str, Any], item: dict[str, Any], name: str) -> str | None:
    """Return what a container asks for in the end, read from the text line by line."""
    limit = resources["limits"].get(name)
    request = resources["requests"].get(name) or limit
    default = item.get("default", {}).get(name) or item.get("max", {}).get(name)
    missing = item.get("defaultRequest", {}).get(name) or default
    return request or missing or item.get("min", {}).get(name)


def a_range(draw: random.Random) -> dict[str, Any]:
    """Return an item that nothing drawn below is outside of."""
    item: dict[str, Any] = {"type": "Container"}
    for field, amount in _FIELDS.items():
        names = [name for name in ("cpu", "memory") if draw.random() < 0.5]
        item[field] = dict.fromkeys(names, amount)
    return item


def resources_of(draw: random.Random) -> dict[str, Any]:
    """Return requests and limits, each resource in either, both or none."""
    found: dict[str, Any] = {"requests": {}, "limits": {}}
    for name in ("cpu", "memory"):
        if draw.random() < 0.5:
            found["requests"][name] = draw.choice(["1", "2", "3"])
        if draw.random() < 0.4:
            found["limits"][name] = draw.choice(["4", "6", "8"])
    return found


def test_defaults_of_a_limit_range_are_those_of_the_second_reading() -> None:
    seed, draw = fresh(31)
    for number in range(40):
        item, given = a_range(draw), resources_of(draw)
        waits = pod("p")
        waits["spec"]["containers"] = [{"name": "c", "image": "i", "resources": given}]
        want = {name: asked(given, item, name) for name in ("cpu", "memory")}
        bounds = {
            "apiVersion": "v1",
            "kind": "LimitRange",
            "metadata": {"name": "bounds", "namespace": "default"},
            "spec": {"limits": [item]},
        }
        world = world_of(node("n"), bounds, waits)
        [made] = world.get(Key("Pod", "default", "p")).manifest["spec"]["containers"]
        got = made["resources"].get("requests", {})
        assert {name: got.get(name) for name in want} == want, (seed, number, item)
