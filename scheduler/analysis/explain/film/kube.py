"""A cycle of kube-scheduler for one pod: filters, scores, Permit, the node."""

from __future__ import annotations

import msgspec

from scheduler.analysis.explain.film import pods
from scheduler.analysis.explain.film.reel import (
    Change,
    Cycle,
    Reel,
    Room,
    choices_of,
    compared,
    fits,
    main_resource,
    term,
)
from scheduler.analysis.explain.shapes import Amount, NodeRow, PodPreemption, Scorer
from scheduler.analysis.explain.shapes.film import Film, Inequality
from scheduler.model.sentence import Named, few, plain
from scheduler.words.film import BarLabel, Scene

#: Of the nodes so many are looked at one by one, and stand on the stage.
MOST_NODES = 8
_FIT = "NodeResourcesFit"


class NodeRoom(Room, kw_only=True):
    """A node before the cycle, and who is on it."""

    node: str
    pods: list[tuple[str, int, list[Amount]]]  # key, priority, what it holds


class PermitCall(msgspec.Struct, kw_only=True):
    """What a plug-in said at Permit; `members` of `minimum` have a node."""

    plugin: str
    verdict: str  # "ok", "wait" or "refused"
    message: str = ""
    members: int | None = None
    minimum: int | None = None


class PodCycle(Cycle, kw_only=True):
    """What was heard of one pod in one cycle, by a profile; the input of a film."""

    priority: int
    asked: dict[str, int]
    rooms: list[NodeRoom]
    nodes: list[NodeRow]  # in the order of the cache
    scorers: list[Scorer]
    refused: str = ""  # by PreFilter, or an error that ends the cycle
    best: list[str] = []
    nominated: str = ""
    node: str = ""  # the one it got, "" for none
    permits: list[PermitCall] = []
    bound: bool = False
    preemption: PodPreemption | None = None


def film(heard: PodCycle) -> Film:
    """Return the frames of a cycle. Pure; O(nodes x scorers)."""
    return _Maker(heard).film()


class _Maker:
    def __init__(self, heard: PodCycle) -> None:
        self.heard = heard
        self.reel = Reel()
        self.asked = [
            Amount(resource=name, amount=str(n)) for name, n in heard.asked.items()
        ]
        self.resource = main_resource(heard.asked)
        by_name = {room.node: room for room in heard.rooms}
        self.shown = self._shown()
        self.rooms = [by_name[row.node] for row in self.shown if row.node in by_name]

    def _shown(self) -> list[NodeRow]:
        """Return the nodes on the stage, in their order: the chosen one is among them."""
        wanted = {self.heard.node}
        if self.heard.preemption is not None:
            wanted.add(self.heard.preemption.node)
        first = self.heard.nodes[:MOST_NODES]
        return first + [
            row for row in self.heard.nodes[MOST_NODES:] if row.node in wanted
        ]

    def film(self) -> Film:
        heard, reel = self.heard, self.reel
        self._set_stage()
        reel.lift(heard.subject, self.asked)
        if heard.refused:
            said = Scene.PRE_FILTER_SAID.said(why=heard.refused)
            reel.tell("preFilter", Scene.PRE_FILTER.said(), said)
        self._filter()
        if heard.node:
            self._score()
            self._permit()
        elif heard.preemption is not None:
            pods.add(reel, heard.preemption)
        if heard.node and (heard.bound or not heard.permits):
            self._land()
        elif not heard.node and heard.preemption is None:
            said = Scene.NO_NODE.said(name=Named(heard.subject))
            reel.wait(heard.subject, said)
        return reel.film("kube-scheduler", heard)

    def _set_stage(self) -> None:
        heard, reel = self.heard, self.reel
        reel.card(heard.subject, "line", priority=heard.priority, held=self.asked)
        for room in self.rooms:
            reel.node(room.node, self.resource, room)
            for key, priority, held in room.pods:
                reel.card(key, f"Node/{room.node}", priority=priority, held=held)

    # ---- filters

    def _filter(self) -> None:
        for row in self.shown:
            self._filter_node(row)
        rest = [row for row in self.heard.nodes if row not in self.shown]
        if rest:
            passed = sum(row.fits for row in rest)
            said = Scene.OTHERS_SAID.said(n=len(rest), passed=passed)
            self.reel.tell("filter", Scene.OTHERS.said(), said)

    def _filter_node(self, row: NodeRow) -> None:
        bar = f"Node/{row.node}"
        asked = self.heard.asked.get(self.resource, 0)
        change = Change(
            spot=[bar, self.heard.subject],
            marks={bar: "passes" if row.fits else "refused"},
            demand={bar: asked},
            tests=self._room_test(row),
        )
        said = (
            Scene.PASSES.said(node=row.node)
            if row.fits
            else Scene.REJECTS.said(
                plugin=row.plugin or "PreFilter",
                node=row.node,
                why=", ".join(row.reasons),
            )
        )
        self.reel.asked(
            "filter",
            Scene.FILTER.said(node=row.node),
            Scene.FILTER_ASK.said(node=row.node),
            [Scene.PASS.said(), Scene.REJECT.said()],
            0 if row.fits else 1,
            said,
            change,
        )

    def _room_test(self, row: NodeRow) -> list[Inequality]:
        """Return the question of room: of what is short, else of what is shown."""
        room = next((r for r in self.rooms if r.node == row.node), None)
        if room is None:
            return []
        tests = {
            name: fits(name, n, room.free(name))
            for name, n in self.heard.asked.items()
            if n
        }
        if not row.fits and row.plugin == _FIT:
            return [test for test in tests.values() if not test.holds][:2]
        return [tests[self.resource]] if self.resource in tests else []

    # ---- scores

    def _score(self) -> None:
        heard = self.heard
        passed = [row for row in heard.nodes if row.fits]
        if heard.nominated == heard.node:
            said = Scene.NOMINATED_SAID.said(node=heard.node)
            change = Change(spot=[f"Node/{heard.node}"])
            self.reel.tell("score", Scene.NOMINATED.said(), said, change)
            return
        if len(passed) == 1:
            change = Change(spot=[f"Node/{passed[0].node}"])
            self.reel.tell(
                "score", Scene.SCORE_ONE.said(), Scene.SCORE_ONE_SAID.said(), change
            )
            return
        rows = [row for row in self.shown if row.fits]
        most = max((row.total or 0 for row in rows), default=0)
        for row in rows:
            self.reel.bar(
                f"score/{row.node}", "Score", name=row.node, limit=float(most)
            )
        sums = dict.fromkeys((row.node for row in rows), 0)
        for scorer in heard.scorers:
            if not scorer.skipped:
                self._scorer(scorer, rows, sums)
        self._which(rows)

    def _scorer(
        self, scorer: Scorer, rows: list[NodeRow], sums: dict[str, int]
    ) -> None:
        for row in rows:
            given = next((s for s in row.scores if s.plugin == scorer.plugin), None)
            if given is not None:
                sums[row.node] += given.normalized * scorer.weight
        used = {f"score/{name}": float(n) for name, n in sums.items()}
        self.reel.tell(
            "score",
            Scene.SCORE.said(plugin=scorer.plugin, weight=scorer.weight),
            Scene.SCORE_SAID.said(plugin=scorer.plugin, weight=scorer.weight),
            Change(spot=list(used), used=used),
        )

    def _which(self, rows: list[NodeRow]) -> None:
        heard = self.heard
        choices = choices_of(heard.node, (row.node for row in rows))
        totals = {row.node: float(row.total or 0) for row in rows}
        tests = [
            compared(heard.node, totals.get(heard.node, 0.0), "≥", name, total)
            for name, total in sorted(totals.items(), key=lambda one: -one[1])
            if name != heard.node
        ][:1]
        if len(heard.best) > 1 and heard.node in heard.best:
            said = Scene.DRAWN.said(nodes=few(heard.best), node=heard.node)
        elif heard.node in heard.best:
            said = Scene.BEST.said(node=heard.node)
        else:
            said = Scene.CHOSEN.said(node=heard.node)
        title, question = (
            Scene.WHICH.said(),
            Scene.WHICH_ASK.said(name=Named(heard.subject)),
        )
        spot = [f"Node/{name}" for name in choices]
        right = choices.index(heard.node)
        # The node is not named first in the question: the test comes with the answer.
        shown = [plain(name) for name in choices]
        self.reel.ask("which", title, question, shown, right, Change(spot=spot))
        marks = {f"Node/{heard.node}": "chosen"}
        change = Change(spot=[f"Node/{heard.node}"], marks=marks, tests=tests)
        self.reel.tell("which", title, said, change)

    # ---- after the node

    def _permit(self) -> None:
        heard = self.heard
        name = Named(heard.subject)
        bar = f"Node/{heard.node}"
        for call in heard.permits:
            if call.members is None and call.verdict == "ok":
                continue
            tests = []
            if call.members is not None and call.minimum is not None:
                tests = [
                    Inequality(
                        left=term(BarLabel.MEMBERS.said(), call.members),
                        sign="≥",
                        right=term(BarLabel.MINIMUM.said(), call.minimum),
                        holds=call.members >= call.minimum,
                    )
                ]
            said = {
                "ok": Scene.PERMIT_OK.said(),
                "wait": Scene.PERMIT_WAITS.said(name=name, node=heard.node),
            }.get(call.verdict) or Scene.PERMIT_REFUSED.said(
                plugin=call.plugin, why=call.message
            )
            self.reel.asked(
                "permit",
                Scene.PERMIT.said(plugin=call.plugin),
                Scene.PERMIT_ASK.said(),
                [Scene.COMPLETE.said(), Scene.INCOMPLETE.said()],
                0 if call.verdict == "ok" else 1,
                said,
                Change(
                    spot=[heard.subject, bar],
                    moves={heard.subject: bar},
                    marks={heard.subject: "held" if call.verdict == "wait" else ""},
                    tests=tests,
                ),
            )

    def _land(self) -> None:
        heard, bar = self.heard, f"Node/{self.heard.node}"
        room = next((r for r in self.rooms if r.node == heard.node), None)
        held = 0 if room is None else room.holds.get(self.resource, 0)
        self.reel.tell(
            "verdict",
            Scene.LANDS.said(),
            Scene.BOUND.said(name=Named(heard.subject), node=heard.node),
            Change(
                spot=[heard.subject, bar],
                moves={heard.subject: bar},
                marks={heard.subject: "bound", bar: "chosen"},
                used={bar: held + heard.asked.get(self.resource, 0)},
            ),
        )
