"""A queues.yaml document to the partitions that it configures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler.model.hierarchy import (
    Limit,
    NodeSort,
    PartitionSpec,
    PlacementRule,
    QueueConfig,
    Template,
)
from scheduler.model.problems import Form, Problem, Wanted, expected
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.checks import check_partition
from scheduler.model.yunikorn.fields import PlainQueues, RuleReader

DEFAULT = "default"
#: Source: <https://yunikorn.apache.org/docs/user_guide/queue_config>
BUILT_IN: dict[str, Any] = {
    "partitions": [
        {
            "name": "default",
            "placementrules": [{"name": "tag", "value": "namespace", "create": True}],
            "queues": [{"name": "root", "submitacl": "*"}],
        }
    ]
}
#: What decides, of a partition and of a queue.
PARTITION_FIELDS = {
    "name",
    "queues",
    "nodesortpolicy",
    "placementrules",
    "limits",
    "preemption",
}
_NO_EFFECT = {"statedumpfilepath", "usergroupresolver"}
QUEUE_FIELDS = {
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


@dataclass(slots=True, kw_only=True)
class Reader(RuleReader):
    """Reads one document; `unsimulated` collects what has no effect here."""

    unsimulated: list[str] = field(default_factory=list)

    def partition(self) -> PartitionSpec:
        """Return the partition named default, the others in its `others`.

        On Kubernetes every node and application belongs to `default`; a
        configuration without it is refused.
        """
        found = self.partitions()
        for spec in found:
            if spec.name == DEFAULT:
                others = tuple(other for other in found if other is not spec)
                unsimulated = tuple(self.unsimulated)
                return replace(spec, others=others, unsimulated=unsimulated)
        names = ", ".join(repr(spec.name) for spec in found)
        raise self.error(
            "partitions", Problem.ONE_PARTITION.said(literal=repr(DEFAULT), given=names)
        )

    def partitions(self) -> list[PartitionSpec]:
        """Return all partitions, each checked; the first problem is raised."""
        self.known(self.document.data, {"partitions", "checksum"}, "")
        items = self.list_of(self.document.data, "partitions", "")
        if not items:
            raise self.error(
                "partitions", expected(Wanted.AT_LEAST_ONE_OF.said(kind="partition"))
            )
        found = [
            self.one_partition(item, f"partitions[{index}]")
            for index, item in enumerate(items)
        ]
        names: set[str] = set()
        for index, spec in enumerate(found):
            path = f"partitions[{index}]"
            if spec.name in names:
                problem = Form.TWICE.said(name=f"partition {spec.name!r}")
                raise self.error(f"{path}.name", problem)
            names.add(spec.name)
            check_partition(self, spec, path)
        return found

    def one_partition(self, data: Any, path: str) -> PartitionSpec:
        """Return one partition as it is written, not checked."""
        if not isinstance(data, dict):
            raise self.error(path, expected(Wanted.NAMED_QUEUES))
        self.known(data, PARTITION_FIELDS | _NO_EFFECT, path)
        self.unsimulated += [f"{path}.{key}" for key in sorted(_NO_EFFECT & {*data})]
        preemption = self.mapping(data, "preemption", path)
        at = f"{path}.preemption"
        self.known(preemption, {"enabled", "quotapreemptionenabled"}, at)
        sort, weights = self.node_sort(data, path)
        rules = self.rules(data, path)
        return PartitionSpec(
            name=self.text(data, "name", path).lower() or DEFAULT,
            root=self.root(data, path),
            node_sort=sort,
            weights=weights,
            placement=rules,
            placement_error=self.unbuildable(rules),
            limits=self.limits(data, path),
            preemption=self.flag(preemption, "enabled", at, True),
            quota_preemption=self.flag(preemption, "quotapreemptionenabled", at, False),
        )

    def root(self, data: Mapping[str, Any], path: str) -> QueueConfig:
        """Return the root; tops without one become children of a root."""
        if data.get("queues") is None:
            raise self.error(path, expected(Wanted.QUEUES))
        queues = self.queues(data, path)
        if len(queues) == 1 and queues[0].name == "root":
            given = data["queues"][0]["name"]
            if given != "root":
                at = f"{path}.queues[0].name"
                raise self.error(
                    at, expected(Wanted.LITERAL.said(literal="'root'"), given)
                )
            return replace(queues[0], parent=True)
        return QueueConfig(name="root", parent=True, queues=queues)

    def queues(self, data: Mapping[str, Any], path: str) -> tuple[QueueConfig, ...]:
        """Return the queues of a list, names lowered."""
        return tuple(
            self.queue(item, f"{path}.queues[{index}]")
            for index, item in enumerate(self.list_of(data, "queues", path))
        )

    def queue(self, data: Any, path: str) -> QueueConfig:
        """Return one queue and all below it."""
        if not isinstance(data, dict) or not data.get("name"):
            raise self.error(path, expected(Wanted.NAMED_QUEUE))
        self.known(data, QUEUE_FIELDS, path)
        amounts = self.mapping(data, "resources", path)
        self.known(amounts, {"guaranteed", "max"}, f"{path}.resources")
        children = self.queues(data, path)
        parent = self.flag(data, "parent", path, False) or bool(children)
        return QueueConfig(
            name=self.text(data, "name", path).lower(),
            parent=parent,
            guaranteed=self.amounts(amounts, "guaranteed", f"{path}.resources"),
            max=self.amounts(amounts, "max", f"{path}.resources"),
            max_applications=self.count(data, "maxapplications", path),
            properties=self.texts(data, "properties", path),
            submit_acl=self.text(data, "submitacl", path),
            admin_acl=self.text(data, "adminacl", path),
            # A leaf's template is never looked at, not even by the real checks.
            template=self.template(data, path) if parent else None,
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
        self.known(amounts, {"guaranteed", "max"}, f"{at}.resources")
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
            raise self.error(path, expected(Wanted.PEOPLE))
        allowed = {"limit", "users", "groups", "maxresources", "maxapplications"}
        self.known(data, allowed, path)
        given = self.mapping(data, "maxresources", path)
        resources = self.amounts(data, "maxresources", path)
        if given and resources is None:
            raise self.error(f"{path}.maxresources", expected(Wanted.ABOVE_ZERO))
        return Limit(
            users=self.names(data, "users", path),
            groups=self.names(data, "groups", path),
            max_resources=resources,
            max_applications=self.count(data, "maxapplications", path),
            description=self.text(data, "limit", path),
        )

    def node_sort(
        self, data: Mapping[str, Any], path: str
    ) -> tuple[NodeSort, dict[str, float] | None]:
        """Return how nodes are ordered, and their weights."""
        given = self.mapping(data, "nodesortpolicy", path)
        at = f"{path}.nodesortpolicy"
        self.known(given, {"type", "resourceweights"}, at)
        kind = self.text(given, "type", at) or "fair"
        if kind not in ("fair", "binpacking"):
            raise self.error(
                f"{at}.type",
                expected(Wanted.CHOICE.said(first="fair", last="binpacking"), kind),
            )
        weights = self.mapping(given, "resourceweights", at)
        sort: NodeSort = "binpacking" if kind == "binpacking" else "fair"
        return sort, self.weights(weights, f"{at}.resourceweights") or None

    def weights(self, given: Mapping[str, Any], path: str) -> dict[str, float]:
        """Return resource weights; negative ones are refused."""
        found: dict[str, float] = {}
        for name, value in given.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise self.error(f"{path}.{name}", expected(Wanted.NUMBER, value))
            if value < 0:
                raise self.error(
                    f"{path}.{name}",
                    expected(Wanted.OR_MORE.said(least="0"), given=value),
                )
            found[name] = float(value)
        return found


def from_plain(data: Mapping[str, Any], *, file: str = "policy") -> PartitionSpec:
    """Return the partition of a plain queues.yaml mapping, checked.

    {} is the configuration that YuniKorn runs with when it has none: a queue per
    namespace, made on first use. Raises ManifestError with the field.
    """
    document = PlainQueues(dict(data or BUILT_IN), file)
    return Reader(document=document).partition()


# ------------------------------------------------------------------------
# A partition to the queues.yaml that configures it.


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


def _queue(queue: QueueConfig) -> dict[str, Any]:
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
