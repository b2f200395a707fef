"""What the resource plug-ins share: weighted resources, columns, shortages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from scheduler.engine.kube.cache.node_table import Ints, View
from scheduler.model.errors import PolicyError
from scheduler.model.node import CPU, MEMORY, is_scalar
from scheduler.model.problems import Wanted, expected, in_field


class ResourceSpec(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A resource and its weight, 1 to 100 (0 or absent: 1)."""

    name: str
    weight: int = 1

    def check(self, plugin: str) -> None:
        """Refuse a weight out of range; make 0 the 1 it stands for."""
        if not 0 <= self.weight <= 100:
            raise PolicyError(
                in_field(
                    "resources",
                    expected(
                        Wanted.WEIGHT.said(least="1", most="100", name=self.name),
                        given=self.weight,
                    ),
                ),
                plugin,
            )
        self.weight = self.weight or 1


class Shortage(NamedTuple):
    """A resource that a node has too little of, in canonical units."""

    resource: str
    asked: int
    taken: int
    capacity: int

    @property
    def reason(self) -> str:
        """Return kube-scheduler's words for it."""
        return f"Insufficient {self.resource}"


def skips(resource: str, asked: Mapping[str, int]) -> bool:
    """Return whether scoring leaves the resource out: a scalar not asked for."""
    return not asked.get(resource) and is_scalar(resource)


def column(view: View, resource: str, *, defaults: bool) -> Ints:
    """Return the requests of each row's pods; with `defaults`, default requests included."""
    if defaults and resource == CPU:
        return view.assumed_cpu
    if defaults and resource == MEMORY:
        return view.assumed_memory
    return view.requested(resource)
