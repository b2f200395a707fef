"""What a NodeGroup says: nodes of one template, how many, and what they cost.

Source: docs/semantics/capacity.md#node-groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from scheduler.model import amounts
from scheduler.model.autoscaling.pool_spec import NODE_POOL
from scheduler.model.durations import Span, read_span
from scheduler.model.errors import QuantityError
from scheduler.model.node import HOSTNAME, ZONE, Node, read_node
from scheduler.model.problems import Form, Problem, Wanted, expected
from scheduler.model.problems.validation import said_of_value

NODE_GROUP = "NodeGroup"
#: What every node of a group is labelled with.
GROUP_LABEL = "quotalab.dev/node-group"

Count = Annotated[int, msgspec.Meta(ge=0, le=100_000)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Amount = Annotated[float, msgspec.Meta(ge=0)]


class Spot(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """Nodes that are taken back: so often per hour and node, drawn from the seed."""

    interruptions_per_hour: Amount


class NodeGroupSpec(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """What a NodeGroup says.

    `template` is a Node without its name. `nodes` are there at once, the rest are
    ordered and take `bootTime`. A node that asks for less than
    `scaleDownThreshold` of itself for `scaleDownDelay` is given back.
    """

    template: dict[str, Any]
    max_nodes: Count
    min_nodes: Count = 0
    nodes: Count | None = None
    boot_time: str = "60s"
    scale_down_delay: str = "10m"
    scale_down_threshold: Share = 0.5
    price_per_hour: Amount = 0.0
    priority: int = 0
    spot: Spot | None = None


def read_group_spec(spec: Mapping[str, Any]) -> NodeGroupSpec:
    """Return the spec.

    Raises QuantityError that begins with the field's path below `spec`.
    """
    try:
        found = msgspec.convert(spec, NodeGroupSpec)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at ")
        where = path.strip("`$.") or "spec"
        raise QuantityError(said_of_value(problem), where) from error
    if found.min_nodes > found.max_nodes:
        raise QuantityError(
            Problem.MIN_NODES.said(most=found.max_nodes, given=found.min_nodes),
            "minNodes",
        )
    for field, text in (
        ("bootTime", found.boot_time),
        ("scaleDownDelay", found.scale_down_delay),
    ):
        span = _span(field, text)
        if field == "scaleDownDelay" and span.shape != "fixed":
            raise QuantityError(expected(Wanted.LENGTH, text), field)
    template_node(found, "any")
    return found


def _span(field: str, text: str) -> Span:
    try:
        return read_span(text)
    except QuantityError as error:
        raise QuantityError(error.said, field) from error


def manifest_of(spec: NodeGroupSpec, group: str, name: str) -> dict[str, Any]:
    """Return the manifest of a node of the group, status included."""
    template = spec.template
    metadata = template.get("metadata") or {}
    labels = {**(metadata.get("labels") or {}), HOSTNAME: name, GROUP_LABEL: group}
    status = dict(template.get("status") or {})
    if not status.get("allocatable"):
        status["allocatable"] = dict(status.get("capacity") or {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {**metadata, "name": name, "labels": labels},
        "spec": dict(template.get("spec") or {}),
        "status": status,
    }


def template_node(spec: NodeGroupSpec, group: str) -> Node:
    """Return the node that the group would add. Raises QuantityError."""
    try:
        manifest = manifest_of(spec, group, f"{group}-template")
        node = read_node(manifest, manifest["status"])
    except (AttributeError, TypeError, KeyError) as error:
        raise QuantityError(expected(Wanted.NODE, given=error), "template") from error
    except QuantityError as error:
        raise QuantityError(error.said, "template.status.allocatable") from error
    if not node.allocatable:
        raise QuantityError(
            Form.GOT_NONE.said(wanted=Wanted.NODE_OFFER), "template.status.allocatable"
        )
    return node


# ------------------------------------------------------------------------
# InstanceTypes: what may be bought, where, and for how much.


INSTANCE_TYPE = "InstanceType"
TYPE = "node.kubernetes.io/instance-type"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
SPOT = "spot"
_DEFAULTS = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}


class Offering(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """One zone and capacity type in which a type may be bought."""

    price_per_hour: Amount
    zone: str = ""
    capacity_type: str = "on-demand"
    interruptions_per_hour: Amount = 0.0
    available: bool = True


class InstanceTypeSpec(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """What an InstanceType says; `allocatable` is `capacity` unless given."""

    capacity: dict[str, Any]
    offerings: Annotated[list[Offering], msgspec.Meta(min_length=1)]
    allocatable: dict[str, Any] = {}
    labels: dict[str, str] = {}
    boot_time: str = "60s"


@dataclass(frozen=True, slots=True)
class Offer:
    """One offering of one type, and the labels that its nodes have of it."""

    type: str
    spec: InstanceTypeSpec
    offering: Offering

    @property
    def price(self) -> float:
        """Return the price per hour."""
        return self.offering.price_per_hour

    @property
    def name(self) -> tuple[str, str, str]:
        """Return type, zone and capacity type."""
        return self.type, self.offering.zone, self.offering.capacity_type

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of the group's nodes."""
        zone = {ZONE: self.offering.zone} if self.offering.zone else {}
        own = {TYPE: self.type, CAPACITY_TYPE: self.offering.capacity_type}
        return {**_DEFAULTS, **self.spec.labels, **zone, **own}


def read_instance_type(spec: Mapping[str, Any]) -> InstanceTypeSpec:
    """Return the spec. Raises QuantityError that begins with the field's path."""
    try:
        found = msgspec.convert(spec, InstanceTypeSpec)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at ")
        raise QuantityError(
            said_of_value(problem), path.strip("`$.") or "spec"
        ) from error
    for field, given in (
        ("capacity", found.capacity),
        ("allocatable", found.allocatable),
    ):
        for name, text in given.items():
            try:
                amounts.canonical(name, text)
            except QuantityError as error:
                raise QuantityError(error.said, f"{field}.{name}") from error
    if not found.capacity:
        raise QuantityError(Form.GOT_NONE.said(wanted=Wanted.NODE_SIZE), "capacity")
    try:
        read_span(found.boot_time)
    except QuantityError as error:
        raise QuantityError(error.said, "bootTime") from error
    return found


def offers_of(name: str, spec: InstanceTypeSpec) -> list[Offer]:
    """Return where an instance type can be had: its offerings that are available."""
    return [Offer(name, spec, one) for one in spec.offerings if one.available]


# ------------------------------------------------------------------------
# A ProvisioningRequestConfig: what is asked for, when, and how often again.


CONFIG = "ProvisioningRequestConfig"
REQUEST = "ProvisioningRequest"
IDENTICAL = "IdenticalPodTemplates"
SAME_NEEDS = "IdenticalWorkloadSchedulingRequirements"
_RETRY = {"backoffLimitCount": 3, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800}

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestConfig:
    """How the requests of one check are made; `managed` empty means every resource."""

    class_name: str
    parameters: dict[str, str]
    managed: frozenset[str]
    limit: int
    base_s: int
    max_s: int
    merging: str
    #: node label -> name of the detail of the class that gives its value
    node_selector: dict[str, str]

    def delay_s(self, retries: int) -> int:
        """Return how long to wait before the next attempt."""
        doubled: int = self.base_s << min(retries, 32)
        return min(doubled, self.max_s)


def read_config(spec: Manifest) -> RequestConfig:
    """Return the config of a checked spec."""
    retry = {**_RETRY, **(spec.get("retryStrategy") or {})}
    updates = (spec.get("podSetUpdates") or {}).get("nodeSelector") or ()
    return RequestConfig(
        class_name=spec["provisioningClassName"],
        parameters=dict(spec.get("parameters") or {}),
        managed=frozenset(spec.get("managedResources") or ()),
        limit=int(retry["backoffLimitCount"]),
        base_s=int(retry["backoffBaseSeconds"]),
        max_s=int(retry["backoffMaxSeconds"]),
        merging=spec.get("podSetMergePolicy") or "",
        node_selector={
            item["key"]: item["valueFromProvisioningClassDetail"] for item in updates
        },
    )


# ------------------------------------------------------------------------
# What the autoscalers read of a world.


#: With the first of these there is an autoscaler.
GROWING = frozenset({NODE_GROUP, NODE_POOL})
AUTOSCALED = GROWING | {INSTANCE_TYPE, CONFIG, REQUEST, "AdmissionCheck", "ConfigMap"}
