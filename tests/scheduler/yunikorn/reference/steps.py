"""Recorded vectors in steps, changed at random."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import yaml

Vector = dict[str, Any]
_NAMES = [
    "a",
    "A",
    "x.y",
    "root.a",
    "root.tenant1.a",
    "root.new.x",
    "",
    "te!am",
    "root",
]
_USERS = ["ann", "bob", "k.im", "dev-1"]
_GROUPS = ["dev", "ops", "ml"]
_FILTERS = [["dev"], ["^d"], ["ann", "bob"], ["o$"], ["[a-k]"]]


def other_quotas(vector: Vector, draw: random.Random) -> Vector:
    """Return a copy with other max and guaranteed values before and after the change."""
    state = copy.deepcopy(vector)
    (step,) = (s for s in state["steps"] if s["op"] == "config")
    for holder, key in ((state, "queuesYaml"), (step, "yaml")):
        config = yaml.safe_load(holder[key])
        for queue in _queues(config["partitions"][0]["queues"][0]):
            if draw.random() < 0.4:
                _resize(queue, draw)
        holder[key] = yaml.safe_dump(config)
    return state


def _queues(queue: Any) -> Iterator[Any]:
    for child in queue.get("queues") or []:
        yield child
        yield from _queues(child)


def _resize(queue: Any, draw: random.Random) -> None:
    kind, unit = draw.choice([("vcore", ""), ("memory", "Gi")])
    sizes = queue.setdefault("resources", {}).setdefault(
        draw.choice(["max", "max", "guaranteed"]), {}
    )
    if draw.random() < 0.3:
        sizes.pop(kind, None)
    else:
        sizes[kind] = f"{draw.choice([1, 2, 4, 8, 16, 40])}{unit}"
    if draw.random() < 0.3:
        queue.setdefault("properties", {})["quota.preemption.delay"] = draw.choice(
            ["1ms", "2ms", "10s", "never"]
        )


def other_applications(vector: Vector, draw: random.Random) -> Vector:
    """Return a copy with other applications, filters, create flags and ACLs."""
    state = copy.deepcopy(vector)
    for step in state["steps"]:
        step["app"] |= {
            "queue": draw.choice(_NAMES),
            "user": draw.choice(_USERS),
            "groups": draw.sample(_GROUPS, draw.randrange(3)),
            "tags": {"namespace": draw.choice(_NAMES), "team": draw.choice(_NAMES)},
        }
    config = yaml.safe_load(state["queuesYaml"])
    for rule in config["partitions"][0].get("placementrules") or []:
        _change(rule, draw)
    for queue in _queues(config["partitions"][0]["queues"][0]):
        if draw.random() < 0.2:
            queue["submitacl"] = draw.choice(["*", "ann", "bob dev", " ops"])
    root = config["partitions"][0]["queues"][0]
    root["submitacl"] = draw.choice(["*", "*", "ann", " dev"])
    state["queuesYaml"] = yaml.safe_dump(config)
    return state


def _change(rule: Any, draw: random.Random) -> None:
    if draw.random() < 0.3:
        rule["create"] = draw.random() < 0.6
    if draw.random() < 0.2:
        holders = draw.choice(["users", "groups"])
        kind = draw.choice(["allow", "deny", ""])
        rule["filter"] = {"type": kind, holders: draw.choice(_FILTERS)}
    if rule.get("parent"):
        _change(rule["parent"], draw)


def other_users(vector: Vector, draw: random.Random) -> Vector:
    """Return a copy whose applications belong to other users and groups."""
    state = copy.deepcopy(vector)
    users = sorted({app["user"] for app in state["applications"]})
    for app in state["applications"]:
        if draw.random() < 0.5:
            app["user"] = draw.choice(users)
            app["groups"] = draw.sample([*_GROUPS, "misc"], draw.randrange(4))
    return state
