"""What would happen: an edit done to a copy of the world, which then runs on.

Nothing here is a guess: the copy is ticked by the same code until the answer
is known or the horizon is reached.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sandbox import operations, worlds
from sandbox.actions.objects import move_of
from sandbox.errors import InvalidError
from sandbox.rows.quota import share_text
from sandbox.rows.workloads import work_of
from scheduler.decisions import Admit, Decision, Evict, Preempt
from scheduler.records.objects import Key
from scheduler.tick import next_instant, run_tick
from scheduler.world import World

#: How many ticks a preview runs before it answers "waits".
HORIZON_TICKS = 30


@dataclass(slots=True, kw_only=True)
class Victim:
    """Who would be evicted for it."""

    workload: str
    tick: int
    reason: str
    message: str
    work_lost_ms: int


@dataclass(slots=True, kw_only=True)
class MoveOutcome:
    """What a move would come to."""

    outcome: str = "waits"  # "admitted", "waits", "inactive"
    tick: int | None = None  # of the admission
    ran_to: int = 0
    reason: str = ""
    message: str = ""
    evicted: bool = False
    position: int | None = None
    victims: list[Victim] = field(default_factory=list)
    shares: list[tuple[str, str, str]] = field(default_factory=list)


def preview_move(sandbox_id: str, workload: Key, queue: str) -> MoveOutcome:
    """Return what moving a Workload would come to; changes nothing.

    Cost: a copy of the world and at most HORIZON_TICKS ticks.
    """
    world, _ = worlds.copy_of(sandbox_id)
    if world.kueue is None:
        raise InvalidError("Workloads move between queues under the stack kueue only")
    world.kueue.settle()
    before = _shares(world)
    work = work_of(world, workload)
    answer = MoveOutcome(evicted=work is not None and work.holds("QuotaReserved"))
    operations.perform(world, move_of(world, workload, queue))
    _run(world, workload, answer)
    after = _shares(world)
    answer.shares = [
        (name, before[name], share) for name, share in after.items() if name in before
    ]
    return answer


def _run(world: World, workload: Key, answer: MoveOutcome) -> None:
    world.take()
    for _ in range(HORIZON_TICKS):
        decisions = run_tick(world)
        _note(world, workload, decisions, answer)
        answer.ran_to = world.tick
        if answer.outcome != "waits" or next_instant(world) is None:
            break
        world.take()
    _tell(world, workload, answer)


def _note(
    world: World, workload: Key, decisions: list[Decision], answer: MoveOutcome
) -> None:
    for decision in decisions:
        match decision:
            case Preempt() if decision.by == workload:
                answer.victims.append(
                    Victim(
                        workload=str(decision.subject),
                        tick=world.tick,
                        reason=decision.reason,
                        message=decision.message,
                        work_lost_ms=decision.work_lost_ms,
                    )
                )
            case Admit() if decision.subject == workload:
                answer.outcome, answer.tick = "admitted", world.tick
            case Evict() if decision.subject == workload:
                answer.outcome, answer.tick = "waits", None
            case _:
                pass


def _tell(world: World, workload: Key, answer: MoveOutcome) -> None:
    """Say in the real system's words where the Workload stands at the end."""
    work = work_of(world, workload)
    if work is None:
        answer.outcome = "inactive"
        return
    name = "Admitted" if answer.outcome == "admitted" else "QuotaReserved"
    condition = work.conditions.get(name)
    if condition is not None:
        answer.reason, answer.message = condition.reason, condition.message
    if not work.active:
        answer.outcome = "inactive"
    if work.line is not None:
        ahead = [other for other in work.line.works() if other.order < work.order]
        answer.position = len(ahead) + 1


def _shares(world: World) -> dict[str, str]:
    if world.kueue is None:
        return {}
    queues = world.kueue.cluster.forest.queues
    return {name: share_text(queues[name]) for name in sorted(queues)}
