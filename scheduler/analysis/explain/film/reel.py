"""Frames in the making: cards, bars, and frames that ask before they tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from scheduler.analysis.explain.shapes import Amount
from scheduler.analysis.explain.shapes.film import (
    Film,
    FilmBar,
    FilmBet,
    FilmCard,
    FilmFrame,
    FilmTerm,
    Inequality,
)
from scheduler.model.sentence import Items, Named, Quantity, Sentence, bare, few, plain
from scheduler.words.film import BarLabel, Scene

#: A question which of many it is names this many.
_MOST_CHOICES = 4
#: More cards than this are not drawn.
MOST_CARDS = 40
#: Of one kind of steps this many are shown one by one.
MOST_STEPS = 30


class Cycle(msgspec.Struct, kw_only=True):
    """What is heard of a cycle of any scheduler; `law` is what it decides by."""

    subject: str
    at_ms: int
    tick: int
    law: str


class Room(msgspec.Struct, kw_only=True):
    """What a node has and holds of each resource before a cycle."""

    has: dict[str, int]
    holds: dict[str, int]

    def free(self, resource: str) -> int:
        """Return how much of a resource is free."""
        return self.has.get(resource, 0) - self.holds.get(resource, 0)


@dataclass(slots=True)
class Change:
    """What a frame changes on the stage."""

    spot: list[str] = field(default_factory=list)
    moves: dict[str, str] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)
    used: dict[str, float] = field(default_factory=dict)
    demand: dict[str, float] = field(default_factory=dict)
    tests: list[Inequality] = field(default_factory=list)


class Reel:
    """Collects what stands on the stage, and the frames in their order."""

    def __init__(self) -> None:
        self.cards: dict[str, FilmCard] = {}
        self.bars: dict[str, FilmBar] = {}
        self.frames: list[FilmFrame] = []
        self.hidden: set[str] = set()

    def card(
        self,
        key: str,
        zone: str,
        *,
        group: str = "",
        priority: int | None = None,
        held: Sequence[Amount] = (),
    ) -> None:
        """Put a card on the stage where it begins, once; of very many some are hidden."""
        if key in self.cards:
            return
        if len(self.cards) >= MOST_CARDS:
            self.hidden.add(key)
            return
        self.cards[key] = FilmCard(
            id=key, zone=zone, group=group, priority=priority, held=list(held)
        )

    def bar(
        self,
        key: str,
        kind: str,
        *,
        name: str = "",
        resource: str = "",
        used: float = 0,
        limit: float | None = None,
    ) -> None:
        """Put a bar on the stage, once."""
        self.bars.setdefault(
            key,
            FilmBar(
                id=key,
                kind=kind,
                name=name or bare(key),
                resource=resource,
                used=used,
                limit=limit,
            ),
        )

    def node(self, name: str, resource: str, room: Room | None) -> None:
        """Put a node on the stage as a bar of what it holds; without a room an empty one."""
        self.bar(
            f"Node/{name}",
            "Node",
            resource=resource,
            used=room.holds.get(resource, 0) if room else 0,
            limit=room.has.get(resource, 0) if room else None,
        )

    def lift(self, subject: str, asked: Sequence[Amount], queue: str = "") -> None:
        """Add the frame in which a subject is lifted to the head, of its queue if any."""
        name, amount = Named(subject), amounts(asked)
        said = Scene.LIFTED.said(name=name, asked=amount)
        if queue:
            said = Scene.LIFTED_IN.said(name=name, queue=queue, asked=amount)
        change = Change(spot=[subject], moves={subject: "head"})
        self.tell("head", Scene.HEAD.said(), said, change)

    def wait(self, subject: str, said: Sentence) -> None:
        """Add the verdict that a subject goes back to the line."""
        change = Change(spot=[subject], moves={subject: "line"})
        self.tell("verdict", Scene.VERDICT.said(), said, change)

    def tell(
        self, kind: str, title: Sentence, said: Sentence, change: Change | None = None
    ) -> None:
        """Add a frame."""
        self._add(kind, title, said, change or Change(), None)

    def ask(
        self,
        kind: str,
        title: Sentence,
        question: Sentence,
        choices: Sequence[Sentence],
        right: int,
        change: Change,
    ) -> None:
        """Add a frame that asks: its tests have no verdict yet, and nothing moves on it."""
        open_tests = [
            msgspec.structs.replace(test, holds=None) for test in change.tests
        ]
        shown = Change(spot=change.spot, demand=change.demand, tests=open_tests)
        bet = FilmBet(ask=question, choices=list(choices), right=right)
        self._add(kind, title, question, shown, bet)

    def asked(
        self,
        kind: str,
        title: Sentence,
        question: Sentence,
        choices: Sequence[Sentence],
        right: int,
        said: Sentence,
        change: Change,
    ) -> None:
        """Add two frames: the question, and what became of it."""
        self.ask(kind, title, question, choices, right, change)
        left = {key: n for key, n in change.demand.items() if key not in change.used}
        self.tell(kind, title, said, replace(change, demand=left))

    def _add(
        self,
        kind: str,
        title: Sentence,
        said: Sentence,
        change: Change,
        bet: FilmBet | None,
    ) -> None:
        known = self.cards.keys() | self.bars.keys()
        self.frames.append(
            FilmFrame(
                kind=kind,
                title=title,
                said=said,
                spot=[one for one in change.spot if one in known],
                moves={k: v for k, v in change.moves.items() if k in self.cards},
                marks={k: v for k, v in change.marks.items() if k in known},
                used={k: v for k, v in change.used.items() if k in self.bars},
                demand={k: v for k, v in change.demand.items() if k in self.bars},
                tests=change.tests,
                bet=bet,
            )
        )

    def film(self, scheduler: str, heard: Cycle) -> Film:
        """Return what was collected of a cycle."""
        return Film(
            scheduler=scheduler,
            law=heard.law,
            subject=heard.subject,
            at_ms=heard.at_ms,
            tick=heard.tick,
            cards=list(self.cards.values()),
            bars=list(self.bars.values()),
            frames=self.frames,
            hidden=len(self.hidden),
        )


def amounts(held: Sequence[Amount]) -> Items | Sentence:
    """Return amounts as a sentence lists them; pods are left out beside other resources."""
    shown = [one for one in held if one.resource != "pods"] or list(held)
    if not shown:
        return Scene.NOTHING.said()
    return few(Quantity(one.resource, one.amount) for one in shown)


def main_resource(asked: Mapping[str, int] | Sequence[Amount]) -> str:
    """Return the resource that a picture shows: a device, else CPU, else the first."""
    names = list(asked) if isinstance(asked, Mapping) else [a.resource for a in asked]
    devices = [name for name in names if "/" in name]
    for name in (*devices, "cpu", "vcore", "memory", *names):
        if name in names:
            return name
    return "pods"


def amount_of(held: Sequence[Amount], resource: str) -> float:
    """Return how much of a resource is held, all flavors together."""
    return sum(int(one.amount) for one in held if one.resource == resource)


def term(label: Sentence, value: float | None, resource: str = "") -> FilmTerm:
    """Return one side of an inequality."""
    return FilmTerm(label=label, value=value, resource=resource)


def fits(resource: str, asked: float, free: float) -> Inequality:
    """Return the question whether an amount fits into what is free."""
    return Inequality(
        left=term(BarLabel.ASKED.said(), asked, resource),
        sign="≤",
        right=term(BarLabel.FREE.said(), free, resource),
        holds=asked <= free,
    )


def compared(
    first: str, value: float, sign: str, second: str, other: float
) -> Inequality:
    """Return two that are called by their names as a test that holds."""
    return Inequality(
        left=term(plain(first), value),
        sign=sign,
        right=term(plain(second), other),
        holds=True,
    )


def choices_of(right: str, among: Iterable[str]) -> list[str]:
    """Return the choices of the question which of many it is, by their names."""
    others = [name for name in among if name != right]
    return sorted([right, *others[: _MOST_CHOICES - 1]])
