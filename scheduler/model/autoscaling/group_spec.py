"""What a NodeGroup says: nodes of one template, how many, and what they cost.

Source: docs/semantics/capacity.md#node-groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from scheduler.model.errors import QuantityError
from scheduler.model.node import HOSTNAME, Node, read_node
from scheduler.model.problems import Form, Problem, Wanted, expected
from scheduler.model.problems.validation import said_of_value
from scheduler.model.spans import Span, read_span

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
