"""A queues.yaml document to the partition that it configures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler.manifests.yunikorn_checks import Checker
from scheduler.manifests.yunikorn_fields import Fields
from scheduler.records.hierarchy import (
    Limit,
    NodeSort,
    PartitionSpec,
    PlacementRule,
    QueueSpec,
    RuleFilter,
    Template,
)

_DEFAULT = "default"
_EVERYBODY = "*"
_PARTITION = {
    "name",
    "queues",
    "nodesortpolicy",
    "placementrules",
    "limits",
    "preemption",
    "statedumpfilepath",
    "usergroupresolver",
}
_QUEUE = {
    "name",
    "parent",
    "submitacl",
    "adminacl",
    "maxapplications",
    "properties",
    "resources",
    "childtemplate",
    "limits",
    "queues",
}
_UNSIMULATED = ("submitacl", "adminacl")
_RULES = ("provided", "user", "fixed", "tag")


@dataclass(slots=True, kw_only=True)
class Reader(Fields):
    """Reads one document; `unsimulated` collects what has no effect here."""

    unsimulated: list[str] = field(default_factory=list)

    def partition(self) -> PartitionSpec:
        """Return the first partition; others are listed as not simulated."""
        partitions = self.list_of(self.document.data, "partitions", "")
        if not partitions:
            raise self.error("partitions", "expected at least one partition")
        for extra in range(1, len(partitions)):
            self.unsimulated.append(f"partitions[{extra}]")
        data, path = partitions[0], "partitions[0]"
        if not isinstance(data, dict):
            raise self.error(path, "expected an object with name and queues")
        self.known(data, _PARTITION, path)
        for key in ("statedumpfilepath", "usergroupresolver"):
            if key in data:
                self.unsimulated.append(f"{path}.{key}")
        root = self.root(data, path)
        sort, weights = self.node_sort(data, path)
        preemption = self.mapping(data, "preemption", path)
        return PartitionSpec(
            name=str(data.get("name", _DEFAULT)).lower(),
            root=root,
            node_sort=sort,
            weights=weights,
            placement=self.rules(data, path),
            limits=self.limits(data, path),
            preemption=self.flag(preemption, "enabled", f"{path}.preemption", True),
            quota_preemption=self.flag(
                preemption, "quotapreemptionenabled", f"{path}.preemption", False
            ),
            unsimulated=tuple(self.unsimulated),
        )

    def root(self, data: Mapping[str, Any], path: str) -> QueueSpec:
        """Return the root; tops without one hang below a root of their own."""
        queues = self.queues(data, path)
        if len(queues) == 1 and queues[0].name == "root":
            root = queues[0]
            if root.limits:
                raise self.error(
                    f"{path}.queues[0].limits",
                    "root takes no limits; give them on the partition",
                )
        else:
            root = QueueSpec(name="root", parent=True, queues=queues)
        if root.max is not None or root.guaranteed is not None:
            raise self.error(
                f"{path}.queues[0].resources",
                "root takes no resources: its max is the sum of its nodes",
            )
        Checker(fields=self).check(root, f"{path}.queues[0]", None)
        return root

    def queues(self, data: Mapping[str, Any], path: str) -> tuple[QueueSpec, ...]:
        """Return the queues of a list, names lowered, none twice."""
        found: dict[str, QueueSpec] = {}
        for index, item in enumerate(self.list_of(data, "queues", path)):
            at = f"{path}.queues[{index}]"
            queue = self.queue(item, at)
            if queue.name in found:
                raise self.error(f"{at}.name", f"queue {queue.name!r} is given twice")
            found[queue.name] = queue
        return tuple(found.values())

    def queue(self, data: Any, path: str) -> QueueSpec:
        """Return one queue and all below it."""
        if not isinstance(data, dict) or not data.get("name"):
            raise self.error(path, "expected a queue with a name")
        self.known(data, _QUEUE, path)
        self.unsimulated += [
            f"{path}.{key}"
            for key in _UNSIMULATED
            if data.get(key) not in (None, "", _EVERYBODY)
        ]
        amounts = self.mapping(data, "resources", path)
        self.known(amounts, {"guaranteed", "max"}, f"{path}.resources")
        children = self.queues(data, path)
        return QueueSpec(
            name=str(data["name"]).lower(),
            parent=self.flag(data, "parent", path, False) or bool(children),
            guaranteed=self.amounts(amounts, "guaranteed", f"{path}.resources"),
            max=self.amounts(amounts, "max", f"{path}.resources"),
            max_applications=self.count(data, "maxapplications", path),
            properties=self.texts(data, "properties", path),
            submit_acl=str(data.get("submitacl") or ""),
            admin_acl=str(data.get("adminacl") or ""),
            template=self.template(data, path),
            limits=self.limits(data, path),
            queues=children,
        )

    def template(self, data: Mapping[str, Any], path: str) -> Template | None:
        """Return what queues made below start with."""
        given = self.mapping(data, "childtemplate", path)
        if not given:
            return None
        at = f"{path}.childtemplate"
        self.known(given, {"maxapplications", "properties", "resources"}, at)
        amounts = self.mapping(given, "resources", at)
        return Template(
            max_applications=self.count(given, "maxapplications", at),
            properties=self.texts(given, "properties", at),
            guaranteed=self.amounts(amounts, "guaranteed", f"{at}.resources"),
            max=self.amounts(amounts, "max", f"{at}.resources"),
        )

    def limits(self, data: Mapping[str, Any], path: str) -> tuple[Limit, ...]:
        """Return the user and group limits of a queue or partition."""
        items = self.list_of(data, "limits", path)
        return tuple(
            self.limit(item, f"{path}.limits[{index}]")
            for index, item in enumerate(items)
        )

    def limit(self, data: Any, path: str) -> Limit:
        """Return one limit."""
        if not isinstance(data, dict):
            raise self.error(path, "expected a limit with users or groups")
        allowed = {"limit", "users", "groups", "maxresources", "maxapplications"}
        self.known(data, allowed, path)
        users = tuple(map(str, self.list_of(data, "users", path)))
        groups = tuple(map(str, self.list_of(data, "groups", path)))
        if not users and not groups:
            raise self.error(path, "expected users or groups, got neither")
        return Limit(
            users=users,
            groups=groups,
            max_resources=self.amounts(data, "maxresources", path),
            max_applications=self.count(data, "maxapplications", path),
            description=str(data.get("limit") or ""),
        )

    def rules(self, data: Mapping[str, Any], path: str) -> tuple[PlacementRule, ...]:
        """Return the placement rules."""
        items = self.list_of(data, "placementrules", path)
        return tuple(
            self.rule(item, f"{path}.placementrules[{index}]")
            for index, item in enumerate(items)
        )

    def rule(self, data: Any, path: str) -> PlacementRule:
        """Return one placement rule and its parent rules."""
        name = str(data.get("name")).lower() if isinstance(data, dict) else ""
        if name not in _RULES:
            raise self.error(path, f"expected a rule named one of {', '.join(_RULES)}")
        self.known(data, {"name", "value", "create", "filter", "parent"}, path)
        given = self.mapping(data, "filter", path)
        parent = data.get("parent")
        return PlacementRule(
            name=name,
            value=str(data.get("value") or ""),
            create=self.flag(data, "create", path, False),
            filter=self.filter(given, f"{path}.filter") if given else None,
            parent=self.rule(parent, f"{path}.parent") if parent else None,
        )

    def filter(self, data: Mapping[str, Any], path: str) -> RuleFilter:
        """Return whom a rule is for."""
        kind = str(data.get("type") or "allow").lower()
        if kind not in ("allow", "deny"):
            raise self.error(f"{path}.type", f"expected allow or deny, got {kind!r}")
        return RuleFilter(
            deny=kind == "deny",
            users=tuple(map(str, self.list_of(data, "users", path))),
            groups=tuple(map(str, self.list_of(data, "groups", path))),
        )

    def node_sort(
        self, data: Mapping[str, Any], path: str
    ) -> tuple[NodeSort, dict[str, float] | None]:
        """Return how nodes are ordered, and their weights."""
        given = self.mapping(data, "nodesortpolicy", path)
        at = f"{path}.nodesortpolicy"
        kind = str(given.get("type") or "fair").lower()
        if kind not in ("fair", "binpacking"):
            raise self.error(f"{at}.type", f"expected fair or binpacking, got {kind!r}")
        weights = self.mapping(given, "resourceweights", at)
        sort: NodeSort = "binpacking" if kind == "binpacking" else "fair"
        return sort, self.weights(weights, f"{at}.resourceweights") or None

    def weights(self, given: Mapping[str, Any], path: str) -> dict[str, float]:
        """Return resource weights; negative ones are refused."""
        found: dict[str, float] = {}
        for name, value in given.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise self.error(f"{path}.{name}", f"expected a number, got {value!r}")
            if value < 0:
                raise self.error(f"{path}.{name}", f"expected 0 or more, got {value}")
            found[name] = float(value)
        return found
