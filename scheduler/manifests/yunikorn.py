"""queues.yaml, bare or inside a ConfigMap: to a partition's records and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from scheduler.errors import ManifestError, QuantityError
from scheduler.manifests.documents import Document, read_documents
from scheduler.records.hierarchy import (
    Limit,
    NodeSort,
    PartitionSpec,
    PlacementRule,
    QueueSpec,
    RuleFilter,
    Template,
)
from scheduler.yunikorn import resources
from scheduler.yunikorn.resources import Amounts

#: Source: YuniKorn, default queue configuration.
BUILT_IN: dict[str, Any] = {
    "partitions": [
        {
            "name": "default",
            "placementrules": [{"name": "tag", "value": "namespace", "create": True}],
            "queues": [{"name": "root", "submitacl": "*"}],
        }
    ]
}
CONFIG_MAPS = ("yunikorn-configs", "yunikorn-defaults")
FILE = "queues.yaml"
DEFAULT = "default"

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


def holds_queues(document: Document) -> bool:
    """Tell whether this document is a queues.yaml or a ConfigMap that holds one."""
    if document.kind == "ConfigMap":
        data = document.data.get("data")
        return isinstance(data, dict) and FILE in data
    return not document.kind and is_queues(document.data)


def is_queues(data: Mapping[str, Any]) -> bool:
    """Tell whether this mapping is a bare queues.yaml."""
    return "partitions" in data


def read_text(text: str, *, file: str = FILE) -> PartitionSpec:
    """Return the partition of a queues.yaml text; raises ManifestError."""
    documents = read_documents(text, file=file)
    if not documents:
        raise ManifestError(f"{file}: expected partitions, got an empty text")
    return read(documents[0])


def read(document: Document) -> PartitionSpec:
    """Return the partition that the document configures, checked.

    Raises ManifestError with file, line and field: an unknown key, a quantity
    that is none, a child that asks for more than its parent has.
    Source: YUNIKORN.md 2.
    """
    if document.kind == "ConfigMap":
        inner = document.data["data"][FILE]
        if not isinstance(inner, str):
            raise document.error(f"data.{FILE}", "expected a text")
        return read_text(inner, file=f"{document.file}[{FILE}]")
    return _Reader(document=document).partition()


def from_plain(data: Mapping[str, Any], *, file: str = "policy") -> PartitionSpec:
    """Return the partition of a plain queues.yaml mapping.

    {} is what YuniKorn runs with when it was given none: a queue per namespace,
    made when it is first asked for.
    """
    return read(Document(file=file, data=dict(data or BUILT_IN)))


@dataclass(slots=True)
class _Reader:
    """Reads one document; `unsimulated` collects what has no effect here."""

    document: Document
    unsimulated: list[str] = field(default_factory=list)

    def error(self, path: str, problem: str) -> ManifestError:
        return self.document.error(path, problem)

    def partition(self) -> PartitionSpec:
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
            name=str(data.get("name", DEFAULT)).lower(),
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
        _Checker(reader=self).check(root, f"{path}.queues[0]", None)
        return root

    def queues(self, data: Mapping[str, Any], path: str) -> tuple[QueueSpec, ...]:
        found: dict[str, QueueSpec] = {}
        for index, item in enumerate(self.list_of(data, "queues", path)):
            at = f"{path}.queues[{index}]"
            queue = self.queue(item, at)
            if queue.name in found:
                raise self.error(f"{at}.name", f"queue {queue.name!r} is given twice")
            found[queue.name] = queue
        return tuple(found.values())

    def queue(self, data: Any, path: str) -> QueueSpec:
        if not isinstance(data, dict) or not data.get("name"):
            raise self.error(path, "expected a queue with a name")
        self.known(data, _QUEUE, path)
        self.unsimulated += [f"{path}.{key}" for key in _UNSIMULATED if data.get(key)]
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
        items = self.list_of(data, "limits", path)
        return tuple(
            self.limit(item, f"{path}.limits[{index}]")
            for index, item in enumerate(items)
        )

    def limit(self, data: Any, path: str) -> Limit:
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
        items = self.list_of(data, "placementrules", path)
        return tuple(
            self.rule(item, f"{path}.placementrules[{index}]")
            for index, item in enumerate(items)
        )

    def rule(self, data: Any, path: str) -> PlacementRule:
        if not isinstance(data, dict) or data.get("name") not in _RULES:
            raise self.error(path, f"expected a rule named one of {', '.join(_RULES)}")
        self.known(data, {"name", "value", "create", "filter", "parent"}, path)
        given = self.mapping(data, "filter", path)
        parent = data.get("parent")
        return PlacementRule(
            name=data["name"],
            value=str(data.get("value") or ""),
            create=self.flag(data, "create", path, False),
            filter=self.filter(given, f"{path}.filter") if given else None,
            parent=self.rule(parent, f"{path}.parent") if parent else None,
        )

    def filter(self, data: Mapping[str, Any], path: str) -> RuleFilter:
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
        given = self.mapping(data, "nodesortpolicy", path)
        at = f"{path}.nodesortpolicy"
        kind = str(given.get("type") or "fair").lower()
        if kind not in ("fair", "binpacking"):
            raise self.error(f"{at}.type", f"expected fair or binpacking, got {kind!r}")
        weights = self.mapping(given, "resourceweights", at)
        sort: NodeSort = "binpacking" if kind == "binpacking" else "fair"
        return sort, self.weights(weights, f"{at}.resourceweights") or None

    def weights(self, given: Mapping[str, Any], path: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, value in given.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise self.error(f"{path}.{name}", f"expected a number, got {value!r}")
            if value < 0:
                raise self.error(f"{path}.{name}", f"expected 0 or more, got {value}")
            found[name] = float(value)
        return found

    def amounts(self, data: Mapping[str, Any], key: str, path: str) -> Amounts | None:
        """Return the resource, or None when nothing in it is above zero."""
        given = self.mapping(data, key, path)
        found: Amounts = {}
        for name, text in given.items():
            try:
                found[name] = resources.parse(name, text)
            except QuantityError as error:
                raise self.error(f"{path}.{key}.{name}", str(error)) from error
        return resources.is_set(found)

    def texts(self, data: Mapping[str, Any], key: str, path: str) -> dict[str, str]:
        given = self.mapping(data, key, path)
        return {
            str(name): str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in given.items()
        }

    def mapping(self, data: Mapping[str, Any], key: str, path: str) -> dict[str, Any]:
        value = data.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(f"{path}.{key}", f"expected an object, got {value!r}")
        return value

    def list_of(self, data: Mapping[str, Any], key: str, path: str) -> list[Any]:
        value = data.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            at = f"{path}.{key}" if path else key
            raise self.error(at, f"expected a list, got {value!r}")
        return value

    def flag(self, data: Mapping[str, Any], key: str, path: str, default: bool) -> bool:
        value = data.get(key, default)
        if not isinstance(value, bool):
            raise self.error(f"{path}.{key}", f"expected true or false, got {value!r}")
        return value

    def count(self, data: Mapping[str, Any], key: str, path: str) -> int:
        value = data.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            problem = f"expected a whole number of 0 or more, got {value!r}"
            raise self.error(f"{path}.{key}", problem)
        return value

    def known(self, data: Mapping[str, Any], keys: set[str], path: str) -> None:
        for key in data:
            if key not in keys:
                names = ", ".join(sorted(keys))
                raise self.error(f"{path}.{key}", f"unknown key; known: {names}")


@dataclass(slots=True)
class _Checker:
    """Refuses a tree in which a queue is promised more than it can have."""

    reader: _Reader

    def check(self, queue: QueueSpec, path: str, ceiling: Amounts | None) -> Amounts:
        """Return what the queue guarantees, its own or the sum of its children."""
        limit = dict(queue.max) if queue.max is not None else None
        if limit is not None and ceiling is not None:
            self.within(limit, ceiling, f"{path}.resources.max", "its parent's max")
        effective = resources.least(limit, ceiling)
        total: Amounts = {}
        for index, child in enumerate(queue.queues):
            part = self.check(child, f"{path}.queues[{index}]", effective)
            resources.add_to(total, part)
        at = f"{path}.resources.guaranteed"
        if queue.guaranteed is not None:
            own = dict(queue.guaranteed)
            self.within(total, own, at, "the guarantee above its children's sum")
            total = own
        if effective is not None:
            self.within(total, effective, at, "the max")
        return total

    def within(self, amounts: Amounts, limit: Amounts, path: str, whose: str) -> None:
        for name, value in amounts.items():
            if name in limit and value > limit[name]:
                given = resources.text_of(name, value)
                allowed = resources.text_of(name, limit[name])
                raise self.reader.error(
                    path, f"{name} {given} is more than {whose} allows ({allowed})"
                )


def to_plain(partition: PartitionSpec) -> dict[str, Any]:
    """Return the queues.yaml mapping of a partition; reading it gives it back."""
    found: dict[str, Any] = {"name": partition.name}
    sort: dict[str, Any] = {"type": partition.node_sort}
    if partition.weights is not None:
        sort["resourceweights"] = dict(partition.weights)
    found["nodesortpolicy"] = sort
    if partition.placement:
        found["placementrules"] = [_rule(rule) for rule in partition.placement]
    if partition.limits:
        found["limits"] = [_limit(limit) for limit in partition.limits]
    found["preemption"] = {
        "enabled": partition.preemption,
        "quotapreemptionenabled": partition.quota_preemption,
    }
    found["queues"] = [_queue(partition.root)]
    return {"partitions": [found]}


def to_text(partition: PartitionSpec) -> str:
    """Return the queues.yaml text of a partition."""
    text: str = yaml.safe_dump(to_plain(partition), sort_keys=False)
    return text


def _queue(queue: QueueSpec) -> dict[str, Any]:
    found: dict[str, Any] = {"name": queue.name}
    plain = {
        "parent": queue.parent,
        "submitacl": queue.submit_acl,
        "adminacl": queue.admin_acl,
        "maxapplications": queue.max_applications,
        "properties": dict(queue.properties),
        "resources": _resources(queue.guaranteed, queue.max),
    }
    found.update({key: value for key, value in plain.items() if value})
    if queue.template is not None:
        found["childtemplate"] = _template(queue.template)
    if queue.limits:
        found["limits"] = [_limit(limit) for limit in queue.limits]
    if queue.queues:
        found["queues"] = [_queue(child) for child in queue.queues]
    return found


def _template(template: Template) -> dict[str, Any]:
    plain = {
        "maxapplications": template.max_applications,
        "properties": dict(template.properties),
        "resources": _resources(template.guaranteed, template.max),
    }
    return {key: value for key, value in plain.items() if value}


def _resources(
    guaranteed: Mapping[str, int] | None, ceiling: Mapping[str, int] | None
) -> dict[str, Any]:
    found = {"guaranteed": _amounts(guaranteed), "max": _amounts(ceiling)}
    return {key: value for key, value in found.items() if value}


def _amounts(amounts: Mapping[str, int] | None) -> dict[str, str]:
    return {t: resources.text_of(t, v) for t, v in (amounts or {}).items()}


def _limit(limit: Limit) -> dict[str, Any]:
    plain = {
        "limit": limit.description,
        "users": list(limit.users),
        "groups": list(limit.groups),
        "maxresources": _amounts(limit.max_resources),
        "maxapplications": limit.max_applications,
    }
    return {key: value for key, value in plain.items() if value}


def _rule(rule: PlacementRule) -> dict[str, Any]:
    found: dict[str, Any] = {"name": rule.name}
    if rule.value:
        found["value"] = rule.value
    if rule.create:
        found["create"] = True
    if rule.filter is not None:
        kept = {"users": list(rule.filter.users), "groups": list(rule.filter.groups)}
        found["filter"] = {
            "type": "deny" if rule.filter.deny else "allow",
            **{key: value for key, value in kept.items() if value},
        }
    if rule.parent is not None:
        found["parent"] = _rule(rule.parent)
    return found
