"""Small YuniKorn worlds: queues, nodes of so many cores, pods that run or wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler.engine.yunikorn.objects.model import Application, Ask, SchedulingNode
from scheduler.engine.yunikorn.objects.partition import Partition
from scheduler.engine.yunikorn.objects.partition_state import rules_of
from scheduler.engine.yunikorn.scheduling import cycle
from scheduler.model.hierarchy import PartitionSpec, QueueConfig
from scheduler.model.registry import lookup
from scheduler.model.releases.release import Release

NOW_MS = 10_000_000
HOUR_MS = 3_600_000


def cores(number: float) -> dict[str, int]:
    """Return so many cores as a resource."""
    return {"vcore": round(number * 1000)}


def queue(
    name: str,
    *children: QueueConfig,
    guaranteed: float | Mapping[str, int] | None = None,
    max: float | Mapping[str, int] | None = None,
    template: Any = None,
    limits: Any = (),
    max_applications: int = 0,
    parent: bool = False,
    **properties: str,
) -> QueueConfig:
    """Return a queue; properties by keyword, dots as underscores."""
    return QueueConfig(
        name=name,
        parent=bool(children) or parent,
        guaranteed=_amounts(guaranteed),
        max=_amounts(max),
        properties={key.replace("_", "."): value for key, value in properties.items()},
        template=template,
        limits=tuple(limits),
        max_applications=max_applications,
        queues=children,
    )


def _amounts(given: float | Mapping[str, int] | None) -> Mapping[str, int] | None:
    return cores(given) if isinstance(given, int | float) else given


@dataclass
class RecordingListener:
    """What the partition decided, as short tuples."""

    events: list[tuple[str, ...]] = field(default_factory=list)
    why: dict[str, set[str]] = field(default_factory=dict)
    victims: list[Ask] = field(default_factory=list)

    def allocated(self, ask: Ask, node: SchedulingNode) -> None:
        self.events.append(("alloc", ask.key, node.name))

    def reserved(self, ask: Ask, node: SchedulingNode) -> None:
        self.events.append(("reserve", ask.key, node.name))

    def unreserved(self, ask: Ask, node: SchedulingNode) -> None:
        self.events.append(("unreserve", ask.key, node.name))

    def attempting(self, ask: Ask) -> None:
        pass

    def preempting(self, ask: Ask, victims: Sequence[Ask], strategy: str) -> None:
        self.events.append(("preempt", ask.key, *(v.key for v in victims)))
        self.victims.extend(victims)

    def releasing(self, ask: Ask, reason: str, message: str) -> None:
        self.events.append(("release", ask.key, reason))
        if reason == "QuotaChange":
            self.victims.append(ask)

    def refused(self, ask: Ask, message: str) -> None:
        self.why.setdefault(ask.key, set()).add(message)

    def entered(self, app: Application) -> None:
        self.events.append(("state", app.id, str(app.state)))


class World:
    """A partition whose clock stands at NOW_MS until it is moved."""

    def __init__(
        self,
        *queues: QueueConfig,
        nodes: Mapping[str, float | Mapping[str, int]] | None = None,
        laws: str = "documented",
        release: str = "1.9.0",
        **settings: Any,
    ) -> None:
        root = QueueConfig(name="root", parent=True, submit_acl="*", queues=queues)
        spec = PartitionSpec(root=root, **settings)
        self.recorded = RecordingListener()
        rules = rules_of(Release(yunikorn=release))
        self.partition = Partition(spec, lookup("laws", laws)(), self.recorded, rules)
        self.partition.now_ms = NOW_MS
        for name, size in (nodes or {}).items():
            self.partition.add_node(SchedulingNode(name, dict(_amounts(size) or {})))

    def app(self, app: str, path: str, **given: Any) -> Application:
        """Return the application, made in this queue when it is new."""
        if app not in self.partition.apps:
            found = self.partition.queue(path)
            assert found is not None, path
            given = {"submit_ms": NOW_MS - HOUR_MS, **given}
            self.partition.add_application(Application(id=app, queue=found, **given))
        return self.partition.apps[app]

    def pod(self, key: str, path: str, size: Any, **given: Any) -> Ask:
        """Return a pod that is neither running nor waiting yet."""
        age_s = given.pop("age_s", 600)
        owner = self.app(given.pop("app", f"app-of-{path}"), path)
        return Ask(
            key=key,
            app=owner,
            resource=dict(_amounts(size) or {}),
            create_ms=self.partition.now_ms - age_s * 1000,
            **given,
        )

    def running(
        self, key: str, path: str, size: Any, node: str = "n", **given: Any
    ) -> Ask:
        """Put a pod that runs on a node."""
        ask = self.pod(key, path, size, **given)
        self.partition.add_allocation(ask, self.partition.nodes.by_name[node])
        return ask

    def waiting(self, key: str, path: str, size: Any, **given: Any) -> Ask:
        """Put a pod that waits."""
        ask = self.pod(key, path, size, **given)
        self.partition.add_ask(ask)
        return ask

    def cycle(self) -> bool:
        """Run one cycle."""
        return cycle.run(self.partition)

    def settle(self, *, leave: bool = True, steps: int = 60) -> None:
        """Run cycles 100 ms apart; victims leave after the cycle that chose them."""
        for _ in range(steps):
            self.cycle()
            if leave:
                self.leave()
            self.partition.now_ms += 100

    def leave(self) -> list[Ask]:
        """Let the victims leave; return them."""
        gone, self.recorded.victims = self.recorded.victims, []
        for victim in gone:
            if victim.node is not None:
                self.partition.release(victim)
        return gone

    def preemptions(self) -> list[tuple[str, ...]]:
        """Return (preemptor, victim, ...) of every preemption so far."""
        return [event[1:] for event in self.recorded.events if event[0] == "preempt"]

    def places(self) -> dict[str, str]:
        """Return where every pod runs."""
        asks = self.partition.asks.values()
        return {ask.key: ask.node.name for ask in asks if ask.node is not None}

    def used(self, path: str) -> float:
        """Return the cores a queue uses."""
        found = self.partition.queue(path)
        assert found is not None, path
        return found.allocated.get("vcore", 0) / 1000
