"""Numbers in answers: amounts, shares, headrooms, the levels of a quota tree."""

from __future__ import annotations

import msgspec


class Shape(msgspec.Struct, kw_only=True, rename="camel"):
    """The base of all: keyword arguments, camelCase on the wire."""


class Amount(Shape):
    """An amount of one resource, of one flavor when `flavor` says so."""

    resource: str
    amount: str
    flavor: str = ""


class NodeName(Shape):
    """A place in the quota tree."""

    kind: str  # ClusterQueue or Cohort
    name: str


class ShareRow(NodeName, kw_only=True):
    """The weighted share of one node."""

    share: float | None
    weight: float
    borrowing: bool


class ShareChange(NodeName, kw_only=True):
    """A weighted share before and after something."""

    before: float | None
    after: float | None


class Level(NodeName, kw_only=True):
    """Quota and usage of one node for one flavor and resource.

    `subtree` is what the node and all below bring together, `lendable` the
    part of it that the parent may give to others.
    """

    nominal: str
    subtree: str
    used: str
    borrowed: str
    lendable: str
    borrowing_limit: str | None
    lending_limit: str | None


class QuotaCheck(Amount, kw_only=True):
    """What is free for a request at one step of a search.

    `amount` is asked. `within_nominal` is what is left of the ClusterQueue's
    own quota where it may not borrow, None where it may.
    """

    available: str
    within_nominal: str | None


class Standing(NodeName, kw_only=True):
    """What a node uses of what it brings, for one flavor and resource."""

    flavor: str
    resource: str
    used: str
    quota: str
