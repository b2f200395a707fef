"""Cycles under limits. Source: docs/semantics/yunikorn.md#user-and-group-limits"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from tests.scheduler.yunikorn.reference.cycle import Run
from tests.scheduler.yunikorn.reference.state import (
    App,
    Node,
    Pod,
    Queue,
    Res,
    add,
    amounts,
    fits_undefined,
    total,
)

NO_USER_QUOTA = "Not enough user quota"


class LimitedRun(Run):
    """A vector of the suite limits: cycles, and pods that end in between."""

    def __init__(self, vector: dict[str, Any]) -> None:
        super().__init__(vector)
        partition = yaml.safe_load(vector["queuesYaml"])["partitions"][0]
        root = partition["queues"][0]
        root["limits"] = partition.get("limits") or root.get("limits")
        self.specs: dict[str, Any] = {}
        self._list(root, "")
        self.people = {a["id"]: a for a in vector["applications"]}
        self.started: set[str] = set()  # had a pod once
        self.waiting: set[str] = set()  # accepted, and had a result
        self.counted: set[str] = set()  # hold something
        for app in self.world.apps.values():
            if app.running():
                self.started.add(app.id)
                self.counted.add(app.id)
        for step in vector["steps"]:
            if step["op"] == "cycles":
                self.until_idle(first_only=False)
            else:
                self.end(step["key"])
            self.settle()

    def _list(self, queue: Any, above: str) -> None:
        path = f"{above}.{queue['name']}".lstrip(".").lower()
        self.specs[path] = queue
        for child in queue.get("queues") or []:
            self._list(child, path)

    # ---- who counts ----

    def end(self, key: str) -> None:
        for app in self.world.apps.values():
            for pod in app.pods:
                if pod.key == key and not pod.gone:
                    self.unreserve(pod)
                    if pod.node is not None:
                        self.world.drop(pod)
                    pod.gone = True

    def settle(self) -> None:
        for app in self.world.apps.values():
            if not app.asks() and not app.running():
                self.counted.discard(app.id)

    def place(self, pod: Pod, node: Node) -> None:
        super().place(pod, node)
        self.started.add(pod.app.id)
        self.counted.add(pod.app.id)
        self.waiting.discard(pod.app.id)

    def reserve(self, pod: Pod, node: Node) -> bool:
        if pod.app.id not in self.started:
            self.waiting.add(pod.app.id)
        return super().reserve(pod, node)

    def limits(self, app: App) -> Iterator[tuple[Queue, list[App], Any]]:
        """Yield (queue, who shares the limit, limit) of the user and the group."""
        user, group = self.people[app.id]["user"], self.group(app)
        for queue in app.queue.route():
            given = self.specs[queue.path].get("limits") or []
            named = [x for x in given if user in (x.get("users") or [])]
            named += [x for x in given if "*" in (x.get("users") or [])]
            if named:
                yield queue, self.sharing(queue, "user", user), named[0]
            named = [x for x in given if group and group in (x.get("groups") or [])]
            if named:
                yield queue, self.sharing(queue, "group", group), named[0]

    def sharing(self, queue: Queue, kind: str, name: str) -> list[App]:
        apps = queue.everyone()
        if kind == "user":
            return [a for a in apps if self.people[a.id]["user"] == name]
        return [a for a in apps if self.group(a) == name]

    def group(self, app: App) -> str:
        mine = self.people[app.id].get("groups") or []
        for queue in app.queue.route() if mine else []:
            given = self.specs[queue.path].get("limits") or []
            names = [name for x in given for name in x.get("groups") or []]
            for name in names:
                if name in mine:
                    return str(name)
            if "*" in names:
                return "*"
        return ""

    def may_run(self, app: App) -> bool:
        if app.id in self.started:
            return True
        for queue in app.queue.route():
            most = self.specs[queue.path].get("maxapplications") or 0
            apps = queue.everyone()
            runs = [a for a in apps if a.id in self.started & self.counted]
            waits = [a for a in apps if a.id in self.waiting]
            if most and app not in waits and len(runs) + len(waits) >= most:
                return False
        for _, apps, limit in self.limits(app):
            holds = [a for a in apps if a.id in self.counted]
            most = limit.get("maxapplications") or 0
            if most and app not in holds and len(holds) >= most:
                return False
        return True

    def left(self, app: App) -> Iterator[Res]:
        for queue, apps, limit in self.limits(app):
            if limit.get("maxresources"):
                pods = [
                    p for a in apps if queue in a.queue.route() for p in a.running()
                ]
                most = amounts(limit["maxresources"])
                used = total(pods)
                yield {k: add({k: v}, used, -1)[k] for k, v in most.items()}

    def fits_limits(self, pod: Pod) -> bool:
        return all(fits_undefined(left, pod.res) for left in self.left(pod.app))

    # ---- the cycle ----

    def _reserved_of(self, app: App, room: Res | None) -> bool:
        self.settle()
        if not self.may_run(app) or not all(
            self.fits_limits(p) for p in app.asks() if p.reserved
        ):
            return False
        return super()._reserved_of(app, room)

    def _normal(self, leaf: Queue) -> bool:
        self.settle()
        room, self.attempts = leaf.headroom(), 10
        return any(
            self._request(pod, room)
            for app in leaf.in_order()
            if self.may_run(app)
            for pod in app.asks()
        )

    def _request(self, pod: Pod, room: Res | None) -> bool:
        if not self.fits_limits(pod):
            self.refuse(pod, NO_USER_QUOTA)
            return False
        return super()._request(pod, room)
