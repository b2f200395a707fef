"""What a queues.yaml says: partitions, the tree of queues, limits, placement rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Amounts = Mapping[str, int]  # type -> units; `vcore` in thousandths

NodeSort = Literal["fair", "binpacking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How much some users or groups may use in one queue and below it."""

    users: tuple[str, ...] = ()  # "*" is any user without a limit of its own
    groups: tuple[str, ...] = ()  # "*" is any group, and comes last
    max_resources: Amounts | None = None
    max_applications: int = 0  # running at once; 0 is no limit
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """What queues made by placement rules below a queue start with."""

    max_applications: int = 0
    properties: Mapping[str, str] = field(default_factory=dict)
    guaranteed: Amounts | None = None
    max: Amounts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueConfig:
    """One queue as configured; applications live in queues without children."""

    name: str
    parent: bool = False  # forced to be a parent
    guaranteed: Amounts | None = None
    max: Amounts | None = None
    max_applications: int = 0  # running at once; 0 is no limit
    properties: Mapping[str, str] = field(default_factory=dict)
    submit_acl: str = ""
    admin_acl: str = ""
    template: Template | None = None
    limits: tuple[Limit, ...] = ()
    queues: tuple[QueueConfig, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFilter:
    """Whom a placement rule is for; `deny` refuses them instead."""

    deny: bool = False
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementRule:
    """One way to find the queue of an application that comes in."""

    name: str  # provided, user, fixed, tag
    value: str = ""
    create: bool = False
    filter: RuleFilter | None = None
    parent: PlacementRule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSpec:
    """One partition: its tree, and how its nodes are ordered."""

    name: str = "default"
    root: QueueConfig = QueueConfig(name="root", parent=True)
    node_sort: NodeSort = "fair"
    #: None stands for vcore 1 and memory 1.
    weights: Mapping[str, float] | None = None
    placement: tuple[PlacementRule, ...] = ()
    #: Why the placement rules cannot be built; no application is placed then.
    placement_error: str = ""
    limits: tuple[Limit, ...] = ()
    preemption: bool = True
    quota_preemption: bool = False
    #: Other partitions of the configuration: on Kubernetes they stay empty.
    others: tuple[PartitionSpec, ...] = ()
    #: Keys that were read and are not simulated, by dotted path.
    unsimulated: tuple[str, ...] = ()
