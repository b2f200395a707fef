"""What a check refuses. Source: docs/semantics/yunikorn.md#configuration-checks"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Queue = dict[str, Any]
Amounts = dict[str, int]
Limited = dict[str, dict[str, tuple[Amounts, int]]]  # users, groups -> name -> limit

KEYS = {
    "partition": "name queues placementrules limits preemption nodesortpolicy",
    "queue": "name parent resources maxapplications properties adminacl submitacl "
    "childtemplate queues limits",
}
SUFFIXES = ["k", "M", "G", "T", "P", "E"]
UNITS: dict[str, int] = {"": 1} | {s: 1000 ** (n + 1) for n, s in enumerate(SUFFIXES)}
UNITS |= {f"{s.upper()}i": 1024 ** (n + 1) for n, s in enumerate(SUFFIXES)}
NAME = r"[A-Za-z0-9_:#/@-]{1,64}"
USER = r"[A-Za-z_][A-Za-z0-9:#/_.@-]*\$?"
GROUP = r"[A-Za-z_][A-Za-z0-9:_.-]*"


class RefusedError(Exception):
    """The check does not accept the configuration."""


def refuse(wrong: bool, why: str) -> None:
    if wrong:
        raise RefusedError(why)


def refused(config: dict[str, Any]) -> str | None:
    """Return why a configuration whose types are right is refused, if it is."""
    partitions = config["partitions"]
    try:
        names = [(each.get("name") or "default").lower() for each in partitions]
        refuse(len(set(names)) < len(names), "partitions of one name")
        for partition in partitions:
            check(partition)
    except RefusedError as why:
        return str(why)
    return None


def check(partition: dict[str, Any]) -> None:
    known(partition, "partition")
    root = top(partition)
    queues(root, "root")
    guaranteed(root, {})
    for rule in partition.get("placementrules") or []:
        rules(rule)
        chain(rule, root)
    policy = partition.get("nodesortpolicy") or {}
    refuse(policy.get("type", "") not in ("", "fair", "binpacking"), "policy")
    weights = (policy.get("resourceweights") or {}).values()
    refuse(any(weight < 0 for weight in weights), "weight")
    applications(root)
    down(root, {"users": {}, "groups": {}})
    build(root)


def known(given: dict[str, Any], kind: str) -> None:
    refuse(not set(given) <= set(KEYS[kind].split()), "key")


def top(partition: dict[str, Any]) -> Queue:
    """Return the root queue, made if the configuration has none."""
    refuse(partition.get("queues") is None, "no queues")
    tops, above = partition["queues"], partition.get("limits") or []
    if len(tops) != 1 or tops[0]["name"].lower() != "root":
        return {"name": "root", "queues": tops, "parent": True, "limits": above}
    [root] = tops
    refuse(bool(root.get("resources")), "root has resources")
    own = root.get("limits") or []
    refuse(bool(own and above and own != above), "limits of partition and root")
    return {**root, "limits": own or above}


def below(queue: Queue) -> list[Queue]:
    return queue.get("queues") or []


def everywhere(queue: Queue) -> Iterator[Queue]:
    yield queue
    for child in below(queue):
        yield from everywhere(child)


def queues(queue: Queue, path: str) -> None:
    known(queue, "queue")
    refuse(queue.get("maxapplications", 0) < 0, "not a whole number from 0")
    for key in ("submitacl", "adminacl"):
        refuse(len(queue.get(key, "").split()) > 2, "ACL")
    limits(queue, path)
    names = [child["name"].lower() for child in below(queue)]
    refuse(not all(re.fullmatch(NAME, name) for name in names), "queue name")
    refuse(len(set(names)) < len(names), "queues of one name")
    for child in below(queue):
        queues(child, f"{path}.{child['name']}")


def limits(queue: Queue, path: str) -> None:
    users: list[str] = []
    groups: list[str] = []
    for limit in queue.get("limits") or []:
        refuse(not limit.get("users") and not limit.get("groups"), "nobody limited")
        for name in limit.get("users") or []:
            refuse(not (name == "*" or re.fullmatch(USER, name)), "user name")
            refuse(name in users or "*" in users, "user twice or after *")
            users.append(name)
        for name in limit.get("groups") or []:
            refuse(not (name == "*" or re.fullmatch(GROUP, name)), "group name")
            refuse(name in groups or "*" in groups, "group twice or after *")
            refuse(name == "*" and not groups, "* without a named group before it")
            groups.append(name)
        most, apps = amounts(limit.get("maxresources")), limit.get("maxapplications", 0)
        if limit.get("maxresources"):
            refuse(not any(most.values()), "maxresources not above zero")
        refuse(not most and not apps, "limit sets nothing")
        refuse(0 < queue.get("maxapplications", 0) < apps, "more than the queue's")
        if path != "root":
            refuse(above(most, resource(queue, "max")), "above the queue's max")


def amounts(given: dict[str, Any] | None) -> Amounts:
    return {kind: amount(kind, str(text)) for kind, text in (given or {}).items()}


def amount(kind: str, text: str) -> int:
    found = re.fullmatch(r"(\d+) *([A-Za-z]*)", text.strip())
    if not found:
        raise RefusedError("quantity")
    digits, suffix = int(found[1]), found[2]
    if kind == "vcore" and suffix == "m":
        return digits
    refuse(suffix not in UNITS, "quantity")
    value: int = digits * UNITS[suffix] * (1000 if kind == "vcore" else 1)
    refuse(value >= 2**63, "quantity")
    return value


def resource(queue: Queue, kind: str) -> Amounts:
    """Return an amount that counts as set, else nothing."""
    found = amounts((queue.get("resources") or {}).get(kind))
    return found if any(found.values()) else {}


def above(asked: Amounts, most: Amounts) -> bool:
    return any(asked[kind] > most[kind] for kind in asked if kind in most)


def guaranteed(queue: Queue, most: Amounts) -> Amounts:
    """Return what a queue counts for in its parent's sum of guarantees."""
    own, limit = resource(queue, "guaranteed"), resource(queue, "max")
    refuse(above(own, limit), "guaranteed above max")
    refuse(above(limit, most), "max above the parent's")
    lowest = {**most, **limit}
    total: Amounts = {}
    for child in below(queue):
        for kind, value in guaranteed(child, lowest).items():
            total[kind] = total.get(kind, 0) + value
    refuse(above(total, own) or above(total, lowest), "sum of guarantees")
    return own or total


def rules(rule: dict[str, Any]) -> None:
    refuse(not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", rule["name"]), "rule name")
    choice = rule.get("filter") or {}
    refuse(choice.get("type", "").lower() not in ("", "allow", "deny"), "filter")
    for holder, pattern in (("users", USER), ("groups", GROUP)):
        entries = choice.get(holder) or []
        if len(entries) == 1 and not re.fullmatch(pattern, entries[0]):
            refuse(not re.search(r"[\^$*+?()\[{}|]", entries[0]), "filter entry")
            try:
                re.compile(entries[0])
            except re.error:
                raise RefusedError("filter entry") from None
    if rule.get("parent"):
        rules(rule["parent"])


def chain(rule: dict[str, Any], root: Queue) -> None:
    """Follow the fixed rules from the outermost parent to the first other one."""
    links = [rule]
    while links[0].get("parent"):
        links.insert(0, links[0]["parent"])
    fixed: list[dict[str, Any]] = []
    for link in links:
        if link["name"].lower() != "fixed":
            break
        fixed.append(link)
    if not fixed:
        return
    path = ".".join(str(link.get("value", "")).lower() for link in fixed).split(".")
    at: Queue | None = root
    for part in path[1:] if path[0] == "root" else path:
        found = [q for q in below(at) if q["name"].lower() == part] if at else []
        if not found:
            made = all(link.get("create") for link in links)
            refuse(not made, "missing queue without create")
            refuse(at is not None and leaf(at, root), "queue below a leaf")
        at = found[0] if found else None
    if at is not None:
        refuse(leaf(at, root) != (len(fixed) == len(links)), "queue of the wrong kind")


def leaf(queue: Queue, root: Queue) -> bool:
    return queue is not root and not below(queue) and not queue.get("parent")


def applications(queue: Queue) -> None:
    most = queue.get("maxapplications", 0)
    for child in below(queue):
        refuse(bool(most) and not 0 < child.get("maxapplications", 0) <= most, "apps")
        applications(child)


def down(queue: Queue, further_up: Limited) -> None:
    here: Limited = {kind: dict(named) for kind, named in further_up.items()}
    for limit in queue.get("limits") or []:
        own = amounts(limit.get("maxresources")), limit.get("maxapplications", 0)
        for kind, named in further_up.items():
            for name in limit.get(kind) or []:
                higher = named.get(name) or named.get("*")
                if higher:
                    refuse(above(own[0], higher[0]), "limit above the one further up")
                    refuse(bool(higher[1]) and not 0 < own[1] <= higher[1], "apps")
                of_name = named[name][0] if name in named else {}
                least = {
                    each: min(has[each] for has in (own[0], of_name) if each in has)
                    for each in {**own[0], **of_name}
                }
                here[kind][name] = least, own[1]
    for child in below(queue):
        down(child, here)


def build(root: Queue) -> None:
    refuse(root["name"] != "root", "top queue not spelled root")
    for queue in everywhere(root):
        template = queue.get("childtemplate") or {}
        refuse(template.get("maxapplications", 0) < 0, "not a whole number from 0")
        if not leaf(queue, root):
            for given in (template.get("resources") or {}).values():
                amounts(given)
        for key in ("submitacl", "adminacl"):
            refuse(len(queue.get(key, "").split(" ")) > 2, "ACL")
