"""InstanceTypes: what may be bought, where, and for how much.

Source: docs/semantics/capacity.md#instancetypes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from scheduler.model import amounts
from scheduler.model.autoscaling.group_spec import Amount
from scheduler.model.errors import QuantityError
from scheduler.model.node import ZONE
from scheduler.model.problems import Form, Wanted
from scheduler.model.problems.validation import said_of_value
from scheduler.model.spans import read_span

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
        """Return the labels of its nodes."""
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
