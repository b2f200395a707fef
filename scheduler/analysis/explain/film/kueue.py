"""A cycle of Kueue for one workload: flavors, the search for victims, places, the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.analysis.explain.film.reel import (
    MOST_STEPS,
    Change,
    Cycle,
    Reel,
    amounts,
    fits,
    main_resource,
    term,
)
from scheduler.analysis.explain.shapes import (
    Amount,
    FlavorRow,
    Level,
    PreemptionSearch,
    PreemptionStep,
    Source,
    Test,
    TopologyLevel,
    TopologySearch,
)
from scheduler.analysis.explain.shapes.film import Film, Inequality
from scheduler.model.sentence import Items, Named, Quantity, Sentence, few, plain, share
from scheduler.words.film import BarLabel, Scene, WhyNobody

_WHY = {word.value.rpartition(".")[2]: word for word in WhyNobody}
#: Of the domains of one level this many are bars.
_MOST_DOMAINS = 8
#: Of the other heads of a cycle this many are cards.
_MOST_HEADS = 5
_CANDIDATES = frozenset({"candidate", "putBack"})
#: Where what became of a candidate takes it.
_ZONES = {
    "taken": "gone",
    "needed": "gone",
    "spared": "running",
    "refused": "candidates",
    "skipped": "candidates",
}


class QuotaCycle(Cycle, kw_only=True):
    """What was heard of one workload in one cycle; the input of a film."""

    queue: str
    priority: int | None
    heads: list[str]
    flavors: list[FlavorRow]
    search: PreemptionSearch | None
    topology: list[TopologySearch]
    status: str  # of the entry: "admitted", "preempting", else it waits
    message: str


def film(heard: QuotaCycle) -> Film:
    """Return the frames of a cycle. Pure; O(steps of the search)."""
    return _Maker(heard).film()


class _Maker:
    def __init__(self, heard: QuotaCycle) -> None:
        self.heard = heard
        self.reel = Reel()
        self.asked = _asked(heard)
        self.resource = main_resource(self.asked)

    def film(self) -> Film:
        heard, reel = self.heard, self.reel
        self._set_stage()
        if len(heard.heads) > 1:
            reel.tell(
                "heads",
                Scene.HEAD.said(),
                Scene.ORDERED.said(n=len(heard.heads)),
                Change(spot=list(heard.heads)),
            )
        reel.lift(heard.subject, self.asked, heard.queue)
        for row in self._rows():
            self._flavor(row)
        if heard.search is not None:
            self._search(heard.search)
        for found in heard.topology:
            if not found.empty:
                self._places(found)
        self._verdict()
        return reel.film("Kueue", heard)

    # ---- the stage

    def _set_stage(self) -> None:
        heard, reel = self.heard, self.reel
        reel.card(
            heard.subject,
            "line",
            group=heard.queue,
            priority=heard.priority,
            held=self.asked,
        )
        others = [key for key in heard.heads if key != heard.subject]
        for key in others[:_MOST_HEADS]:
            reel.card(key, "line")
        reel.hidden.update(others[_MOST_HEADS:])
        for step in heard.search.steps if heard.search else ():
            if step.kind == "candidate":
                reel.card(
                    step.workload,
                    "running",
                    group=step.queue,
                    priority=step.priority,
                    held=step.held,
                )
        for row in self._rows():
            for level in row.chain:
                reel.bar(
                    _bar(level, row),
                    level.kind,
                    name=level.name,
                    resource=row.resource,
                    used=int(level.used),
                    limit=int(level.subtree),
                )

    def _rows(self) -> list[FlavorRow]:
        """Return the flavors that are shown: all of the main resource, else what fails."""
        return [
            row
            for row in self.heard.flavors
            if row.resource == self.resource or row.verdict not in ("fit", "notTried")
        ][: MOST_STEPS // 2]

    # ---- flavors

    def _flavor(self, row: FlavorRow) -> None:
        title = Scene.FLAVOR.said(flavor=row.flavor, resource=row.resource)
        queue = self.heard.queue
        if row.verdict == "barred":
            said = Scene.BARRED.said(reason=row.reason)
            self.reel.tell("flavor", title, said)
            return
        if row.verdict == "notTried":
            self.reel.tell("flavor", title, Scene.UNTRIED.said())
            return
        if row.verdict == "uncovered":
            said = Scene.UNCOVERED.said(queue=queue, resource=row.resource)
            self.reel.tell("flavor", title, said)
            return
        asked, free = int(row.requested), int(row.available)
        bars = [_bar(level, row) for level in row.chain]
        change = Change(
            spot=[self.heard.subject, *bars],
            demand=dict.fromkeys(bars, asked),
            tests=[fits(row.resource, asked, free)],
        )
        what = Quantity(row.resource, row.requested)
        room = Quantity(row.resource, row.available)
        words = Scene.FITS
        if row.verdict != "fit":
            better = row.verdict in ("preempt", "reclaim")
            words = Scene.PREEMPT if better else Scene.SHORT
        self.reel.asked(
            "flavor",
            title,
            Scene.FLAVOR_ASK.said(asked=what, queue=queue),
            [Scene.YES.said(), Scene.NO.said()],
            0 if row.verdict == "fit" else 1,
            words.said(asked=what, free=room),
            change,
        )

    # ---- the search for victims

    def _search(self, search: PreemptionSearch) -> None:
        reel = self.reel
        needed = search.steps[0].quota_checks
        resource = next(
            (one.resource for one in needed if int(one.available) < int(one.amount)),
            self.resource,
        )
        for check in needed:
            if check.resource == resource:
                reel.bar(
                    "free",
                    "Free",
                    name="free",
                    resource=resource,
                    used=int(check.available),
                    limit=int(check.amount),
                )
        for row in search.steps[0].shares:
            if row.share is not None:
                reel.bar(
                    f"share/{row.kind}/{row.name}",
                    "Share",
                    name=row.name,
                    used=row.share,
                )
        candidates = list(
            dict.fromkeys(
                step.workload for step in search.steps if step.kind == "candidate"
            )
        )
        reel.tell(
            "who",
            Scene.WHO.said(),
            Scene.WHO_SAID.said(
                asked=amounts(search.requests), who=_sources(search.sources)
            ),
            Change(spot=candidates, moves=dict.fromkeys(candidates, "candidates")),
        )
        number = shown = left = 0
        late = Change()  # what is done by steps that are not shown one by one
        for step in search.steps[1:]:
            number += step.kind == "candidate"
            if step.kind == "targets":
                continue
            if step.kind in _CANDIDATES:
                if shown >= MOST_STEPS:
                    left += 1
                    late.marks[step.workload] = step.verdict
                    late.moves[step.workload] = _ZONES[step.verdict]
                    late.used |= self._now(step, resource).used
                    continue
                shown += 1
            self._step(step, search, number, resource)
        if left:
            reel.tell("more", Scene.MORE_TITLE.said(), Scene.MORE.said(n=left), late)

    def _step(
        self, step: PreemptionStep, search: PreemptionSearch, number: int, resource: str
    ) -> None:
        reel = self.reel
        match step.kind:
            case "attempt":
                title = Scene.BORROWING if step.borrowing else Scene.WITHIN
                said = Scene.MAY_BORROW if step.borrowing else Scene.STAYS_WITHIN
                reel.tell(
                    "attempt", title.said(), said.said(), self._now(step, resource)
                )
            case "round":
                self._round(step, search, resource)
            case "turn":
                self._turn(step)
            case "candidate":
                self._candidate(step, number, resource)
            case "putBack":
                self._put_back(step, resource)
            case "failed":
                back = [
                    card.id for card in reel.cards.values() if card.zone == "running"
                ]
                change = self._now(step, resource)
                change.marks = dict.fromkeys(back, "")
                change.moves = dict.fromkeys(back, "candidates")
                reel.tell(
                    "failed", Scene.FAILED.said(), Scene.FAILED_SAID.said(), change
                )
            case _:
                pass

    def _now(self, step: PreemptionStep, resource: str) -> Change:
        """Return what the numbers of a step fill: what is free, and the shares."""
        used = {
            f"share/{row.kind}/{row.name}": row.share
            for row in step.shares
            if row.share is not None
        }
        for check in step.quota_checks:
            if check.resource == resource:
                used["free"] = _free(check.available, check.within_nominal)
        return Change(used=used)

    def _round(
        self, step: PreemptionStep, search: PreemptionSearch, resource: str
    ) -> None:
        change = self._now(step, resource)
        if step.within_nominal:
            title, said = Scene.ROUND_WITHIN.said(), Scene.ROUND_WITHIN_SAID.said()
        else:
            first = step.rule == (search.rules[0] if search.rules else "")
            words = Scene.ROUND_FIRST if first else Scene.ROUND_AGAIN
            title, said = Scene.ROUND.said(rule=step.rule), words.said(rule=step.rule)
        self.reel.tell("round", title, said, change)

    def _turn(self, step: PreemptionStep) -> None:
        value = next((s.share for s in step.shares if s.name == step.queue), None)
        if not step.shares:
            said = Scene.TURN_SAID.said(queue=step.queue)
        else:
            words = Scene.TURN_OWN if step.relation == "same" else Scene.TURN_HIGHEST
            said = words.said(queue=step.queue, share=share(value))
        spot = [f"share/ClusterQueue/{step.queue}"]
        spot += [c.id for c in self.reel.cards.values() if c.group == step.queue]
        self.reel.tell(
            "turn", Scene.TURN.said(queue=step.queue), said, Change(spot=spot)
        )

    def _candidate(self, step: PreemptionStep, number: int, resource: str) -> None:
        key, name = step.workload, Named(step.workload)
        change = self._now(step, resource)
        change.spot = [key]
        change.marks = {key: step.verdict}
        change.tests = _test(step.test, taken=step.verdict == "taken")
        held = amounts(step.held)
        match step.verdict:
            case "refused":
                nobody = step.test is not None and step.test.kind == "priority"
                nobody = nobody and step.test is not None and step.test.below is None
                said = (Scene.NO_OTHERS if nobody else Scene.REFUSED).said(name=name)
            case "skipped":
                said = Scene.SKIPPED.said(name=name)
            case _:
                change.moves = {key: "gone"}
                words = Scene.TAKEN_FITS if step.fits else Scene.TAKEN
                said = words.said(name=name, reason=step.reason, held=held)
        self.reel.asked(
            "candidate",
            Scene.CANDIDATE.said(number=number, name=name),
            Scene.CANDIDATE_ASK.said(name=name),
            [Scene.GOES.said(), Scene.STAYS.said()],
            0 if step.verdict == "taken" else 1,
            said,
            change,
        )

    def _put_back(self, step: PreemptionStep, resource: str) -> None:
        key, name = step.workload, Named(step.workload)
        change = self._now(step, resource)
        change.spot = [key]
        change.marks = {key: step.verdict}
        if step.fits:
            change.moves = {key: "running"}
        change.tests = [
            fits(c.resource, int(c.amount), _free(c.available, c.within_nominal))
            for c in step.quota_checks
            if c.resource == resource
        ]
        self.reel.asked(
            "putBack",
            Scene.PUT_BACK.said(name=name),
            Scene.PUT_BACK_ASK.said(name=name),
            [Scene.STAYS.said(), Scene.GOES.said()],
            0 if step.fits else 1,
            (Scene.SPARED if step.fits else Scene.NEEDED).said(name=name),
            change,
        )

    # ---- places

    def _places(self, found: TopologySearch) -> None:
        for level in found.levels:
            self._level(level)

    def _level(self, level: TopologyLevel) -> None:
        reel = self.reel
        bars: dict[str, str] = {}
        for domain in level.domains[:_MOST_DOMAINS]:
            key = f"Domain/{level.level}/{domain.path}"
            bars[key] = domain.path
            reel.bar(
                key, "Domain", name=domain.path, used=domain.fits, limit=level.needed
            )
        best = max((domain.fits for domain in level.domains), default=0)
        best_path = next((d.path for d in level.domains if d.fits == best), "")
        taken = [domain for domain in level.domains if domain.taken]
        pods = Quantity("pods", str(level.needed))
        marks = {
            f"Domain/{level.level}/{d.path}": "chosen" if d.taken else "left"
            for d in level.domains
        }
        test = Inequality(
            left=term(BarLabel.NEEDED.said(), level.needed),
            sign="≤",
            right=term(BarLabel.PLACES.said(name=best_path), best),
            holds=level.needed <= best,
        )
        change = Change(spot=list(bars), marks=marks, tests=[test])
        names = few(domain.path for domain in taken)
        said = (
            Scene.LEVEL_YES.said(domains=names)
            if taken
            else Scene.LEVEL_NO.said(pods=pods)
        )
        reel.asked(
            "level",
            Scene.LEVEL.said(level=level.level),
            Scene.LEVEL_ASK.said(pods=pods),
            [Scene.ONE_PLACE.said(), Scene.NO_PLACE.said()],
            0 if taken else 1,
            said,
            change,
        )

    # ---- the end

    def _verdict(self) -> None:
        heard = self.heard
        name = Named(heard.subject)
        targets = [] if heard.search is None else heard.search.targets
        victims = [target.workload for target in targets]
        change = Change(spot=[heard.subject])
        match heard.status:
            case "admitted":
                right, change.moves = 0, {heard.subject: "in"}
                said = Scene.ADMITTED.said(name=name)
                change.used = self._admitted()
            case "preempting":
                right, change.moves = 1, dict.fromkeys(victims, "line")
                change.marks = dict.fromkeys(victims, "needed")
                change.spot = [heard.subject, *victims]
                said = Scene.PREEMPTING.said(
                    names=few(Named(key) for key in victims), name=name
                )
            case _:
                right, change.moves = 2, {heard.subject: "line"}
                said = Scene.WAITING.said(name=name, message=plain(heard.message))
        self.reel.asked(
            "verdict",
            Scene.VERDICT.said(),
            Scene.VERDICT_ASK.said(name=name),
            [Scene.IS_ADMITTED.said(), Scene.PREEMPTS.said(), Scene.WAITS.said()],
            right,
            said,
            change,
        )

    def _admitted(self) -> dict[str, float]:
        """Return the bars with what was asked in them; what borrows fills those above."""
        return {
            _bar(level, row): int(level.used) + int(row.requested)
            for row in self._rows()
            if row.chosen
            for level in row.chain
        }


def _asked(heard: QuotaCycle) -> list[Amount]:
    """Return what is asked in all: of each podset and resource once."""
    if heard.flavors:
        per: dict[tuple[str, str], int] = {}
        for row in heard.flavors:
            own = int(row.requested) - int(row.assigned)
            per.setdefault((row.pod_set, row.resource), own)
        total: dict[str, int] = {}
        for (_, resource), amount in per.items():
            total[resource] = total.get(resource, 0) + amount
        return [Amount(resource=name, amount=str(n)) for name, n in total.items()]
    return [] if heard.search is None else list(heard.search.requests)


def _bar(level: Level, row: FlavorRow) -> str:
    return f"{level.kind}/{level.name}/{row.flavor}/{row.resource}"


def _free(available: str, within_nominal: str | None) -> float:
    free = int(available)
    return free if within_nominal is None else min(free, max(0, int(within_nominal)))


def _sources(sources: Sequence[Source]) -> Items | Sentence:
    parts = [
        Scene.SOURCE.said(
            n=one.candidates, holders=one.holders, queue=one.queue, policy=one.policy
        )
        if one.candidates
        else Scene.SOURCE_NONE.said(queue=one.queue, why=_WHY[one.code].said())
        for one in sources
        if one.candidates or one.code in _WHY
    ]
    return Items(tuple(parts), all=True) if parts else Scene.NOBODY.said()


def _test(test: Test | None, *, taken: bool) -> list[Inequality]:
    """Return what a candidate was judged by, as questions about two bars."""
    if test is None:
        return []
    if test.kind == "share" and test.theirs is not None and test.ours is not None:
        first = test.rule != 1
        theirs = test.target_share_after if first else test.target_share_before
        words = BarLabel.THEIRS_AFTER if first else BarLabel.THEIRS_BEFORE
        return [
            Inequality(
                left=term(
                    BarLabel.OURS.said(name=test.ours.name), test.preemptor_share
                ),
                sign="≤" if first else "<",
                right=term(words.said(name=test.theirs.name), theirs),
                holds=taken,
            )
        ]
    if test.kind == "priority" and test.below is not None:
        return [
            Inequality(
                left=term(BarLabel.PRIORITY.said(), test.priority),
                sign="<",
                right=term(BarLabel.BELOW.said(), test.below),
                holds=taken,
            )
        ]
    return [
        Inequality(
            left=term(
                BarLabel.USES.said(name=cell.name), int(cell.used), cell.resource
            ),
            sign=">",
            right=term(
                BarLabel.QUOTA.said(name=cell.name), int(cell.quota), cell.resource
            ),
            holds=int(cell.used) > int(cell.quota),
        )
        for cell in test.cells[:2]
    ]
