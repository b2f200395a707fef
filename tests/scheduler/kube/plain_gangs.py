"""A second, slow reading of Coscheduling: members of several sizes, some bound before.

Written from docs/semantics/kube-scheduler.md#coscheduling and
#members-that-already-run. Each pod names its node, and no two have one priority.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

NODES = ("n0", "n1")
ROUND_MS = 30_000  # apart, so that every backoff of the last round is over
PENDING, WAITING, BOUND = "pending", "waiting", "bound"
State = Literal["pending", "waiting", "bound"]


@dataclass
class Member:
    """One pod of a group."""

    name: str
    group: str
    node: str
    cores: int
    priority: int
    state: State = "pending"
    queued: bool = True  # not among the unschedulable
    ready_at: int = 0  # ms: the end of its backoff
    tries: int = 0
    few: bool = False  # it failed because its group has too few members


@dataclass
class Round:
    """What happens at one instant: members come, or one goes."""

    come: list[Member] = field(default_factory=list)
    gone: str = ""  # the first bound or pending member of this group


@dataclass
class GangWorld:
    """Groups with their minMember, on nodes of so many cores each."""

    cores: int
    least: dict[str, int]
    rounds: list[Round]
    members: list[Member] = field(default_factory=list)
    now: int = 0
    binds: int = 0  # that have not ended

    def run(self) -> Iterator[dict[str, str]]:
        """Yield the state of every member at the end of each round."""
        for number, each in enumerate(self.rounds):
            self.now = number * ROUND_MS
            self.members += each.come
            gone = self.goes(each)
            if gone is not None:
                self.members.remove(gone)
                self._requeue([m for m in self.members if not m.few], gone.state)
            self._try_all()
            yield {member.name: member.state for member in self.members}

    def _requeue(self, members: list[Member], cause: State) -> None:
        """Queue those again whom an assigned pod that comes or goes may help."""
        for member in members if cause == BOUND else ():
            member.queued = True

    def goes(self, each: Round) -> Member | None:
        able = [m for m in self.of(each.gone) if m.state != WAITING]
        return min(able, key=lambda m: (m.state, m.name), default=None)

    def of(self, group: str) -> list[Member]:
        return [member for member in self.members if member.group == group]

    def _try_all(self) -> None:
        """Try the queued by priority, each once its backoff is over.

        A bind ends when nobody is left to try at its instant, one at a time.
        """
        while queued := [m for m in self.members if m.state == PENDING and m.queued]:
            able = [m for m in queued if m.ready_at <= self.now]
            if able:
                self._try(max(able, key=lambda m: m.priority))
            elif not self._end_bind():
                self.now = min(m.ready_at for m in queued)
        while self._end_bind():
            self._try_all()

    def _end_bind(self) -> bool:
        """End one bind, which queues again whose group had too few members."""
        if not self.binds:
            return False
        self.binds -= 1
        self._requeue([m for m in self.members if m.few], "bound")
        return True

    def _try(self, member: Member) -> None:
        member.few = len(self.of(member.group)) < self.least[member.group]
        if not member.few and self._free(member) >= 0:
            member.state = "waiting"
            self._permit(member.group, self.least[member.group])
            return
        member.queued = False
        member.ready_at = self.now + min(1000 * 2**member.tries, 10_000)
        member.tries += 1

    def _free(self, member: Member) -> int:
        here = [m for m in self.members if m.node == member.node]
        held = sum(m.cores for m in here if m.state != PENDING)
        return self.cores - held - member.cores

    def _permit(self, group: str, least: int) -> None:
        assigned = [m for m in self.of(group) if m.state != PENDING]
        if len(assigned) >= least:
            self.binds += sum(member.state == WAITING for member in assigned)
            for member in assigned:
                member.state = "bound"
        elif len(assigned) == 1:
            for member in self.of(group):  # its siblings are activated
                member.queued, member.ready_at = True, 0


def drawn(draw: random.Random) -> GangWorld:
    """Return two or three groups; some of their members run at the start."""
    groups = [f"g{i}" for i in range(draw.randint(2, 3))]
    priorities = draw.sample(range(1000), 40)
    world = GangWorld(
        cores=draw.randint(4, 10),
        least={group: draw.randint(1, 4) for group in groups},
        rounds=[],
    )
    room = dict.fromkeys(NODES, world.cores)

    def member(state: State) -> Member:
        made = Member(
            name=f"m{len(priorities):02}",
            group=draw.choice(groups),
            node=draw.choice(NODES),
            cores=draw.randint(1, 3),
            priority=priorities.pop(),
            state=state,
        )
        if state == BOUND:
            room[made.node] -= made.cores
        return made

    first = [member("pending") for _ in range(draw.randint(2, 8))]
    running = draw.randint(0, 4)
    while running and min(room.values()) >= 3:
        first += [member("bound")]
        running -= 1
    world.rounds.append(Round(come=first))
    for _ in range(draw.randint(1, 4)):
        if draw.random() < 0.5:
            come = [member("pending") for _ in range(draw.randint(1, 2))]
            world.rounds.append(Round(come=come))
        else:
            world.rounds.append(Round(gone=draw.choice(groups)))
    return world
