"""One decision as a film: what stands on the stage, and what each frame changes.

Amounts of bars and terms are numbers in canonical units of their resource.
"""

from __future__ import annotations

from scheduler.analysis.explain.shapes.searching import Amount, Shape
from scheduler.model.sentence import Sentence


class FilmCard(Shape, kw_only=True):
    """A workload, pod, queue or application that moves; `zone` is where it begins.

    Zones: "line" (it waits), "head" (lifted), "candidates", "running", "gone" (sent
    back), "in" (it has quota), and "Node/NAME".
    """

    id: str  # a key, or what else names it
    group: str = ""  # its queue, by which it is coloured
    priority: int | None = None
    held: list[Amount] = []  # what it asks or holds
    zone: str


class FilmBar(Shape):
    """Something that is filled: `limit` is its mark, None without one.

    `kind`: "ClusterQueue", "Cohort", "Queue", "Node", "Domain", "Share", "Score",
    "Cost" or "Free". `resource` is "" where a plain number is shown.
    """

    id: str
    kind: str
    name: str
    resource: str = ""
    used: float = 0
    limit: float | None = None


class FilmTerm(Shape):
    """One side of an inequality; `value` None is infinite."""

    label: Sentence
    value: float | None
    resource: str = ""


class Inequality(Shape):
    """A test as a question about two bars; `holds` is None before its verdict."""

    left: FilmTerm
    sign: str  # ≤, <, ≥ or >
    right: FilmTerm
    holds: bool | None = None


class FilmBet(Shape):
    """What may be guessed before the next frame; `right` is the index of its answer."""

    ask: Sentence
    choices: list[Sentence]
    right: int


class FilmFrame(Shape):
    """One step: its words, and what changes on the stage since the one before.

    `moves`: card -> zone. `marks`: card or bar -> what became of it, "" takes it away.
    `used`: bar -> what fills it from now on. `demand`: bar -> what is laid on top of it,
    in this frame only. `spot`: cards and bars that it is about.
    """

    kind: str
    title: Sentence
    said: Sentence
    spot: list[str] = []
    moves: dict[str, str] = {}
    marks: dict[str, str] = {}
    used: dict[str, float] = {}
    demand: dict[str, float] = {}
    tests: list[Inequality] = []
    bet: FilmBet | None = None


class Film(Shape):
    """One decision, frame by frame; no frame says what a later one finds.

    `scheduler`: "Kueue", "kube-scheduler" or "YuniKorn"; `law` is the strategy, policy
    or laws it decides by. `hidden` cards are not shown, for there are too many.
    """

    scheduler: str
    law: str
    subject: str
    at_ms: int
    tick: int
    cards: list[FilmCard]
    bars: list[FilmBar]
    frames: list[FilmFrame]
    hidden: int = 0
