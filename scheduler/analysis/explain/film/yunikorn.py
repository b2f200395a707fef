"""A cycle of YuniKorn for one pod: order of queues, headroom, nodes, victims."""

from __future__ import annotations

from scheduler.analysis.explain.film import pods
from scheduler.analysis.explain.film.kube import MOST_NODES
from scheduler.analysis.explain.film.reel import (
    Change,
    Cycle,
    Reel,
    Room,
    amount_of,
    amounts,
    compared,
    fits,
    main_resource,
)
from scheduler.analysis.explain.shapes import (
    AskExplanation,
    NodeVerdict,
    PodPreemption,
    QueueHeadroom,
    SortedLevel,
)
from scheduler.analysis.explain.shapes.film import Film, Inequality
from scheduler.model.sentence import Hole, Named, Quantity, Sentence, bare, plain
from scheduler.words.film import Scene

_MOST_ORDERED = 6


class AskCycle(Cycle, kw_only=True):
    """What was heard of one pod in one cycle; the input of a film."""

    priority: int
    ask: AskExplanation  # as it stood before the cycle
    rooms: dict[str, Room]
    node: str = ""  # the one it got
    preemption: PodPreemption | None = None
    message: str = ""  # why it waits


def film(heard: AskCycle) -> Film:
    """Return the frames of a cycle. Pure; O(queues + nodes)."""
    return _Maker(heard).film()


class _Maker:
    def __init__(self, heard: AskCycle) -> None:
        self.heard = heard
        self.ask = heard.ask
        self.reel = Reel()
        self.resource = main_resource(self.ask.requests)
        self.asked = amount_of(self.ask.requests, self.resource)
        self.nodes = self._shown()

    def _shown(self) -> list[NodeVerdict]:
        """Return the nodes on the stage: as far as they were tried."""
        tried: list[NodeVerdict] = []
        for found in self.ask.node_verdicts:
            tried.append(found)
            if found.node == self.heard.node or len(tried) >= MOST_NODES:
                break
        return tried

    def film(self) -> Film:
        heard, reel = self.heard, self.reel
        self._set_stage()
        for level in self.ask.sorting:
            self._order(level)
        reel.lift(heard.subject, self.ask.requests, self.ask.queue)
        fits_all = [self._headroom(row) for row in self._path()]
        fitting = self._user() and all(fits_all)
        if fitting and (heard.node or heard.preemption is None):
            for found in self.nodes:
                self._node(found)
        if heard.preemption is not None:
            pods.add(reel, heard.preemption)
        elif not heard.node:
            said = Scene.YUNIKORN_WAITS.said(
                name=Named(heard.subject), message=heard.message
            )
            reel.wait(heard.subject, said)
        return reel.film("YuniKorn", heard)

    def _set_stage(self) -> None:
        heard, reel = self.heard, self.reel
        reel.card(
            heard.subject,
            "line",
            group=self.ask.queue,
            priority=heard.priority,
            held=self.ask.requests,
        )
        for row in self._path():
            reel.bar(
                _queue_bar(row),
                "Queue",
                name=row.queue,
                resource=row.resource,
                used=int(row.used),
                limit=None if row.max is None else int(row.max),
            )
        for found in self.nodes:
            reel.node(found.node, self.resource, heard.rooms.get(found.node))

    def _path(self) -> list[QueueHeadroom]:
        """Return the queues with a quota of what is shown, or of what is short."""
        return [
            row
            for row in self.ask.path
            if row.max is not None
            and (row.resource == self.resource or self._is_short(row))
        ]

    def _is_short(self, row: QueueHeadroom) -> bool:
        return amount_of(self.ask.requests, row.resource) > int(row.left or 0)

    # ---- order

    def _order(self, level: SortedLevel) -> None:
        if len(level.order) < 2:
            return
        shown = level.order[:_MOST_ORDERED]
        words = {"queues": Scene.ORDER_QUEUES, "applications": Scene.ORDER_APPS}.get(
            level.kind, Scene.ORDER_ASKS
        )
        pods_of_it = level.kind == "asks"
        first: Hole = Named(f"Pod/{shown[0]}") if pods_of_it else shown[0]
        spot: list[str] = []
        tests: list[Inequality] = []
        if level.kind == "queues":
            for name, share in zip(shown, level.shares, strict=False):
                self.reel.bar(f"share/{name}", "Share", name=name, used=share)
                spot.append(f"share/{name}")
            if len(level.shares) > 1 and level.shares[0] <= level.shares[1]:
                first_share, next_share = level.shares[:2]
                tests = [compared(shown[0], first_share, "≤", shown[1], next_share)]
        else:
            for name in shown:
                key = f"Pod/{name}" if pods_of_it else name
                self.reel.card(key, "line", group=self.ask.queue)
                spot.append(key)
        choices = sorted(shown)
        title = Scene.ORDER.said(name=level.name)
        said = words.said(name=level.name, first=first)
        change = Change(spot=spot, tests=tests)
        question = Scene.ORDER_ASK.said(name=level.name)
        self.reel.ask(
            "order",
            title,
            question,
            [plain(bare(name) if pods_of_it else name) for name in choices],
            choices.index(shown[0]),
            Change(spot=spot),
        )
        self.reel.tell("order", title, said, change)

    # ---- quota

    def _headroom(self, row: QueueHeadroom) -> bool:
        asked = amount_of(self.ask.requests, row.resource)
        left = int(row.left or 0)
        fitting = asked <= left
        room = Quantity(row.resource, str(left))
        self.reel.asked(
            "headroom",
            Scene.HEADROOM.said(queue=row.queue),
            Scene.HEADROOM_ASK.said(
                asked=Quantity(row.resource, str(int(asked))), queue=row.queue
            ),
            [Scene.YES.said(), Scene.NO.said()],
            0 if fitting else 1,
            (Scene.HEADROOM_YES if fitting else Scene.HEADROOM_NO).said(left=room),
            Change(
                spot=[self.heard.subject, _queue_bar(row)],
                demand={_queue_bar(row): asked},
                tests=[fits(row.resource, asked, left)],
            ),
        )
        return fitting

    def _user(self) -> bool:
        check = next((one for one in self.ask.checks if one.name == "userQuota"), None)
        if check is None or not check.asked:
            return True
        tests = [
            fits(one.resource, int(one.amount), int(one.left))
            for one in check.asked[:2]
        ]
        self.reel.asked(
            "user",
            Scene.USER.said(),
            Scene.HEADROOM_ASK.said(
                asked=amounts(self.ask.requests), queue=Scene.USER.said()
            ),
            [Scene.YES.said(), Scene.NO.said()],
            0 if check.holds else 1,
            (Scene.USER_YES if check.holds else Scene.USER_NO).said(),
            Change(spot=[self.heard.subject], tests=tests),
        )
        return check.holds

    # ---- nodes

    def _node(self, found: NodeVerdict) -> None:
        bar = f"Node/{found.node}"
        takes = found.node == self.heard.node
        room = self.heard.rooms.get(found.node)
        tests = []
        if room is not None:
            tests = [fits(self.resource, self.asked, room.free(self.resource))]
        change = Change(
            spot=[bar, self.heard.subject],
            marks={bar: "chosen" if takes else "refused"},
            demand={bar: self.asked},
            tests=tests,
        )
        if takes:
            change.moves = {self.heard.subject: bar}
            change.marks[self.heard.subject] = "bound"
            if room is not None:
                change.used = {bar: room.holds.get(self.resource, 0) + self.asked}
        said = Scene.NODE_YES.said(node=found.node) if takes else self._refusal(found)
        self.reel.asked(
            "node",
            Scene.NODE.said(node=found.node),
            Scene.NODE_ASK.said(node=found.node),
            [Scene.TAKES.said(), Scene.NOT_TAKES.said()],
            0 if takes else 1,
            said,
            change,
        )

    def _refusal(self, found: NodeVerdict) -> Sentence:
        return Scene.NODE_NO.said(node=found.node, why=found.verdict or "-")


def _queue_bar(row: QueueHeadroom) -> str:
    return f"Queue/{row.queue}/{row.resource}"
