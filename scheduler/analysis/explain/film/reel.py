"""Frames in the making: cards, bars, and frames that ask before they tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from scheduler.model.english import bare
from scheduler.model.sentence import Items, Named, Quantity, Sentence, few
from scheduler.words.film import BarLabel, Scene

#: More cards than this are not drawn.
MOST_CARDS = 40
#: Of one kind of steps this many are shown one by one.
MOST_STEPS = 30


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

    def film(
        self, *, scheduler: str, law: str, subject: str, at_ms: int, tick: int
    ) -> Film:
        """Return what was collected."""
        return Film(
            scheduler=scheduler,
            law=law,
            subject=subject,
            at_ms=at_ms,
            tick=tick,
            cards=list(self.cards.values()),
            bars=list(self.bars.values()),
            frames=self.frames,
            hidden=len(self.hidden),
        )


def amounts(held: Sequence[Amount]) -> Items | Sentence:
    """Return amounts as a sentence lists them; pods are left out beside others."""
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


def named(key: str) -> Named:
    """Return an object as a hole of a sentence."""
    return Named(key)
