"""Where applications go. Source: docs/semantics/yunikorn.md#placement-rules"""

from __future__ import annotations

import re
from typing import Any

import yaml

NAME = re.compile(r"[A-Za-z0-9_:#/@-]{1,64}")
Tree = dict[str, dict[str, Any]]  # path -> leaf?, acls


class RefusedError(Exception):
    """The submission fails at once."""


def placed(vector: dict[str, Any]) -> dict[str, str | None]:
    """Return the queue of every application, None where it is rejected."""
    config = yaml.safe_load(vector["queuesYaml"])["partitions"][0]
    tree: Tree = {}
    for top in config["queues"]:
        grow(tree, top, "")
    rules = config.get("placementrules") or [{"name": "provided"}]
    found: dict[str, str | None] = {}
    for step in vector["steps"]:
        app = step["app"]
        try:
            found[app["id"]] = place(tree, rules, app)
        except RefusedError:
            found[app["id"]] = None
    return found


def grow(tree: Tree, queue: dict[str, Any], above: str) -> None:
    path = f"{above}.{queue['name']}".lstrip(".").lower()
    below = queue.get("queues") or []
    leaf = not below and not queue.get("parent") and path != "root"
    acls = [str(queue.get(key) or "") for key in ("submitacl", "adminacl")]
    tree[path] = {"leaf": leaf, "acls": acls}
    for child in below:
        grow(tree, child, path)


def place(tree: Tree, rules: list[Any], app: dict[str, Any]) -> str | None:
    for rule in rules:
        path = result(tree, rule, app)
        if path and allowed(tree, path, app):
            return make(tree, path)
    default = "root.default"
    return default if default in tree and allowed(tree, default, app) else None


def result(tree: Tree, rule: Any, app: dict[str, Any]) -> str:
    kind, value = rule["name"].lower(), str(rule.get("value") or "").lower()
    if kind == "provided":
        value = app["queue"]
    elif kind == "user":
        value = app["user"].replace(".", "_dot_")
    elif kind == "tag":
        value = next((v for k, v in app["tags"].items() if k.lower() == value), "")
    if not value or not passes(rule.get("filter"), app):
        return ""
    qualified = kind != "user" and value.startswith(
        "root." if kind != "fixed" else "root"
    )
    if not qualified and kind != "fixed":
        value = value.replace(".", "_dot_")
    if not all(NAME.fullmatch(part) for part in value.split(".")):
        raise RefusedError
    path = value
    if not qualified:
        above = "root"
        if rule.get("parent"):
            above = result(tree, rule["parent"], app)
            if not above:
                return ""
            if not above.startswith("root."):
                above = f"root.{above}"
            if tree.get(above.lower(), {}).get("leaf"):
                raise RefusedError
        path = f"{above}.{value}"
    return path if rule.get("create") or path.lower() in tree else ""


def passes(rule: Any, app: dict[str, Any]) -> bool:
    if not rule:
        return True
    deny = rule.get("type") == "deny"
    users, groups = rule.get("users") or [], rule.get("groups") or []
    if not users and not groups:
        return not deny
    named = among(users, [app["user"]]) or among(groups, app["groups"])
    return named != deny


def among(entries: list[str], names: list[str]) -> bool:
    if len(entries) == 1 and re.search(r"[\^$*+?()\[{}|]", entries[0]):
        return any(re.search(entries[0], name) for name in names)
    return any(name in entries for name in names)


def allowed(tree: Tree, path: str, app: dict[str, Any]) -> bool:
    known = tree.get(path.lower())
    if known is not None and not known["leaf"]:
        return False
    at = path.lower()
    while at not in tree:
        at = at.rpartition(".")[0]
        if not at:
            return False
    if at == "root.@recovery@":
        return False
    parts = at.split(".")
    paths = [".".join(parts[: n + 1]) for n in range(len(parts))]
    return any(admits(acl, app) for p in paths for acl in tree[p]["acls"])


def admits(acl: str, app: dict[str, Any]) -> bool:
    users, _, groups = acl.partition(" ")
    if "*" in (acl.strip(), users, groups):
        return True
    mine = set(app["groups"]) & set(groups.split(","))
    return app["user"] in users.split(",") or bool(mine - {""})


def make(tree: Tree, path: str) -> str | None:
    parts = path.lower().split(".")
    for n in range(1, len(parts) + 1):
        at = ".".join(parts[:n])
        if at not in tree:
            if tree[".".join(parts[: n - 1])]["leaf"]:
                raise RefusedError
            if parts[n - 1] == "@recovery@" and n > 2:
                raise RefusedError
            tree[at] = {"leaf": n == len(parts), "acls": []}
    return path.lower() if tree[path.lower()]["leaf"] else None
