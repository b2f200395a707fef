"""A changed copy beside one that was not changed: both run to the same horizon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scheduler.analysis.explain.fork import fork
from scheduler.analysis.measures.subjects import kind_of_subjects
from scheduler.analysis.measures.verdict import (
    ChangeVerdict,
    preempted_beyond,
    running_since,
    verdict,
)
from scheduler.engine.simulation import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Decision, Preempt
from scheduler.model.sentence import Sentence, named
from scheduler.words.whatif import WhatIf


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBeside:
    """What a changed run came to beside the same world without the change."""

    world: World  # without the change, at the horizon
    verdict: ChangeVerdict
    preempted: list[Preempt]  # with the change alone


def run_beside(
    world: World, changed: Sequence[Decision], *, horizon_ms: int
) -> RunBeside:
    """Run a copy of `world` to the horizon and compare it with a changed run.

    `changed` are all decisions of a copy that was changed at the same instant and run
    as far. The world given stays as it is. Cost: a copy and its decisions.
    """
    from_ms, kind = world.context.now_ms, kind_of_subjects(world)
    plain = fork(world)
    usual = simulate(plain, until_ms=from_ms + horizon_ms).decisions
    found = verdict(
        usual,
        changed,
        kind=kind,
        from_ms=from_ms,
        to_ms=from_ms + horizon_ms,
        since=running_since(world),
    )
    return RunBeside(
        world=plain,
        verdict=found,
        preempted=preempted_beyond(usual, changed, kind=kind),
    )


def effects(
    found: ChangeVerdict, *, subject: str = "", moved: bool = False
) -> list[Sentence]:
    """Return who gains and who loses, or that nothing changes, in sentences.

    Of `subject` more is said elsewhere. `moved`: shares of queues differ, so that
    something does change.
    """
    seconds = (found.to_ms - found.from_ms) / 1000
    if not found.differs and not moved:
        return [WhatIf.SAME.said(seconds=seconds)]
    others = [one for one in found.workloads if one.subject != subject]
    ends = [one for one in others if one.start == "same"]
    groups = (
        (WhatIf.STARTS, [one for one in others if one.start == "only"]),
        (WhatIf.EARLIER, [one for one in others if one.start == "earlier"]),
        (WhatIf.NEVER, [one for one in others if one.start == "never"]),
        (WhatIf.LATER, [one for one in others if one.start == "later"]),
        (WhatIf.ENDS_EARLIER, [one for one in ends if one.gains]),
        (WhatIf.ENDS_LATER, [one for one in ends if one.loses]),
        (WhatIf.ELSEWHERE, [one for one in ends if not (one.gains or one.loses)]),
    )
    said = [
        words.said(
            n=len(ones), names=named(one.subject for one in ones), seconds=seconds
        )
        for words, ones in groups
        if ones
    ]
    if found.pods and not subject:
        said.append(WhatIf.PODS.said(n=found.pods))
    if said or len(others) < len(found.workloads):
        return said
    return [WhatIf.SHARES_ONLY.said(seconds=seconds)]
