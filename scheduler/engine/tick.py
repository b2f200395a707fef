"""One tick of virtual time, in named steps: the table of contents of the engine.

1. `run_tick()` goes on by `tickMs`: `advance()` from one `next_instant()` to the next.
2. An instant is handled by `settle()`: time first, then quota, then places.
3. `give_time()`: autoscaler and lifetime finish what is done, bring what arrives, start
   what is ready.
4. `decide_quota()`: admission cycles (`kueue/scheduler/cycle.py`) and `run_controllers()`
   in turn, until two cycles moved nothing. Where cycles take time: `cycle_at_pace()`.
5. `place_pods()`: kube-scheduler or YuniKorn place the pods that wait for a node; then
   the autoscaler scans.
6. `move_workers()`: the worker clusters of MultiKueue handle the instant.
7. After each of them `react()`: the lifetime carries out what was decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scheduler.engine.kueue.queries import pending_counts
from scheduler.engine.kueue.workload.families import make_variant
from scheduler.engine.world import World
from scheduler.model.decisions import Admit, Decision, Evict, Preempt, Wait
from scheduler.model.errors import NoProgressError, SchedulerError
from scheduler.model.objects import Key, cluster_of
from scheduler.model.policy import read_policy
from scheduler.model.problems import GivenUp
from scheduler.model.sentence import Sentence

if TYPE_CHECKING:
    from scheduler.engine.kueue.scheduler.preempting import Writing
    from scheduler.engine.kueue.stage import KueueStage
    from scheduler.engine.multikueue.stage import MultiKueueStage


#: A loop that makes no progress at one instant ends after this many attempts.
MOST_ATTEMPTS = 1_000
QUIET_CYCLES = 2
#: Quota that went round in a circle so often at one instant never comes to rest.
MOST_RETURNS = 10


def run_tick(world: World) -> list[Decision]:
    """Advance the world by one tick and return what was decided in it.

    Every instant up to and including the tick's end is handled. Pure but for
    the world itself. Cost: that of the instants; an idle tick costs nothing.
    """
    before = len(world.context.journal.decisions)
    advance(world, world.context.now_ms + world.policy.spec.simulation.tick_ms)
    world.tick += 1
    return world.context.journal.decisions[before:]


def advance(world: World, until_ms: int, at: int | None = None) -> int | None:
    """Go from instant to instant until virtual time is `until_ms`.

    `at` is the first of them, where the caller has just asked for it. Returns when
    something happens by itself next, or None. Raises NoProgressError where one
    instant is asked for more than MOST_ATTEMPTS times: the world stands there then.
    """
    attempts, quiet = 0, True
    at = next_instant(world) if at is None else at
    while at is not None and at <= until_ms:
        attempts = attempts + 1 if at <= world.context.now_ms else 0
        if attempts > MOST_ATTEMPTS:
            raise NoProgressError(_no_progress(world))
        if attempts == 0:
            quiet = True
        world.context.now_ms = max(at, world.context.now_ms)
        quiet = settle(world, quota=quiet) and quiet
        at = next_instant(world, quiet=quiet)
    world.context.now_ms = until_ms
    return at


def next_instant(world: World, *, quiet: bool = True) -> int | None:
    """Return the earliest instant at which anything happens by itself, or None.

    Where quota is not `quiet` no more cycles run now: Kueue goes on 1 ms later.
    """
    earliest: int | None = None
    for stage in world.stages():
        due = stage.due()
        if due is not None and not quiet and stage is world.kueue:
            due = max(due, world.context.now_ms + 1)
        if due is not None and (earliest is None or due < earliest):
            earliest = due
    return earliest


def _no_progress(world: World) -> Sentence:
    """Say which stages ask for the present instant again, and for what."""
    now = world.context.now_ms
    asking = [
        f"{stage.name} waits for {stage.awaited()}"
        for stage in world.stages()
        if (due := stage.due()) is not None and due <= now
    ]
    return GivenUp.STANDS.said(
        at=f"{now / 1000:.3f}", count=MOST_ATTEMPTS, waiting="; ".join(asking)
    )


def settle(world: World, *, quota: bool = True) -> bool:
    """Handle the present instant once: time first, then quota, then places.

    Returns whether quota came to rest; without `quota` no cycle is run.
    """
    give_time(world)
    quiet = decide_quota(world) if quota else True
    place_pods(world)
    if world.multikueue is not None:
        move_workers(world, world.multikueue)
    return quiet


def move_workers(world: World, multikueue: MultiKueueStage) -> None:
    """Let worker clusters handle this instant; compare Workloads and their copies.

    After each of them: the first that admits a copy has it.
    """
    now = world.context.now_ms
    multikueue.reconcile()
    for cluster in multikueue.checks.order():
        worker = world.workers()[cluster]
        worker.context.now_ms = now
        at = next_instant(worker)
        if at is not None and at <= now:
            advance(worker, now)
            multikueue.workers.drain(cluster)
            multikueue.reconcile()
    react(world)


def give_time(world: World) -> None:
    """Finish what is done, bring what arrives, start what is ready."""
    if world.autoscaling is not None:
        world.autoscaling.advance()
    world.lifetime.advance()
    react(world)
    if world.lifetime.queues is not None:
        follow_queues(world, world.lifetime.queues)


def follow_queues(world: World, queues: dict[str, Any]) -> None:
    """Take YuniKorn's queues from a ConfigMap that changes; applications stay."""
    world.lifetime.queues = None
    document = world.policy.document()
    own = {**document["spec"].get("yunikorn", {}), "queues": queues}
    document = {**document, "spec": {**document["spec"], "yunikorn": own}}
    try:
        world.set_policy(read_policy(document))
    except SchedulerError as error:
        world.context.journal.complain(error.said)


def decide_quota(world: World) -> bool:
    """Run Kueue's admission cycles and controllers until they are quiet.

    Quiet: no head is left, or two cycles in a row decided and moved nothing.
    Workloads that take quota from each other in turn never are; time goes on
    when the same ones have held it MOST_RETURNS times. Returns False then.
    Source: docs/semantics/kueue-lifecycle.md#one-instant.
    """
    if world.kueue is None:
        return True
    run_controllers(world)
    if world.kueue.pace.paced:
        cycle_at_pace(world, world.kueue)
        return True
    quiet, held = 0, dict[Key, bool]()
    seen = Counter[frozenset[tuple[Key, bool]]]()
    for _ in range(MOST_ATTEMPTS):
        before, read = pending_counts(world.kueue), len(world.context.journal.decisions)
        if not world.kueue.cycle():
            return True
        run_controllers(world)
        moved = _decided(world, read) or pending_counts(world.kueue) != before
        quiet = 0 if moved else quiet + 1
        if quiet == QUIET_CYCLES:
            return True
        if _take_turns(held, world.context.journal.decisions[read:]):
            seen[now := frozenset(held.items())] += 1
            if seen[now] > MOST_RETURNS:
                break
    world.context.journal.complain(GivenUp.IN_TURN.said())
    return False


def cycle_at_pace(world: World, kueue: KueueStage) -> None:
    """End the admission cycle that is under way when its time is over; begin one.

    A cycle decides at its end. None begins after two that moved nothing until
    something changes: it would decide the same again.
    """
    now, pace = world.context.now_ms, kueue.pace
    if pace.writing is not None:
        cycle_and_write(world, kueue, pace.writing)
        return
    if pace.over(now):
        fresh, moved = _cycle(world, kueue)
        admitted = any(isinstance(decision, Admit) for decision in fresh)
        pace.end(
            now, kueue.cluster.cycle, admitted=admitted and not kueue.gated, moved=moved
        )
        run_controllers(world)
    if kueue.has_heads():
        go_on = pace.resume if kueue.heads.held else pace.begin
        go_on(now, kueue.cluster.cycle + 1)


def cycle_and_write(world: World, kueue: KueueStage, writing: Writing) -> None:
    """Take a cycle at its begin; the next one waits until all of it is written."""
    now, pace = world.context.now_ms, kueue.pace
    if pace.over(now):
        pace.written(now)
    if pace.may_begin(now) and kueue.has_heads():
        fresh, moved = _cycle(world, kueue)
        pace.write(now, writing, fresh, moved=moved)
        run_controllers(world)


def _cycle(world: World, kueue: KueueStage) -> tuple[list[Decision], bool]:
    """Run one admission cycle; return what it decided, and whether anything moved."""
    before, read = pending_counts(kueue), len(world.context.journal.decisions)
    kueue.cycle()
    moved = _decided(world, read) or pending_counts(kueue) != before
    return world.context.journal.decisions[read:], moved


def run_controllers(world: World) -> None:
    """Start what was admitted and stop what was evicted, until all is reported.

    A job that is stopped has no pods any longer; where stopping takes time, the
    lifetime reports the end of it.
    Source: docs/semantics/kueue-lifecycle.md#two-steps-of-an-eviction.
    """
    kueue = world.kueue
    if kueue is None:
        return
    _reconcile(world, kueue)
    if world.autoscaling is not None:
        while world.autoscaling.check_requests():
            _reconcile(world, kueue)
    react(world)
    for key in kueue.expired():
        world.lifetime.job_stage.retire(world.get(key))
    if world.going:
        world.let_go()


def _reconcile(world: World, kueue: KueueStage) -> None:
    """Run Kueue's controllers until all that they stopped has stopped."""
    kueue.reconcile()
    while stopped := [key for key in kueue.stopping() if world.lifetime.evict(key)]:
        for key in stopped:
            world.lifetime.stopped(key)
        kueue.reconcile()
    if kueue.variants is not None and _make_variants(world, kueue):
        _reconcile(world, kueue)


def _make_variants(world: World, kueue: KueueStage) -> bool:
    """Put the variants that Workloads lack, and delete those that nothing has.

    Source: docs/semantics/kueue-concurrent-admission.md#parent-and-variants.
    """
    assert kueue.variants is not None
    making = kueue.variants.making
    wanted, gone = making.take()
    for parent, flavor, place in wanted:
        variant = make_variant(world.get(parent), flavor, place)
        world.put(variant)
        making.made(parent, variant.key)
    for key in gone:
        world.delete(key)
    return bool(wanted or gone)


def _take_turns(held: dict[Key, bool], fresh: list[Decision]) -> bool:
    """Note who got quota and who lost it; return whether anybody did."""
    before = dict(held)
    for decision in fresh:
        if isinstance(decision, Admit | Preempt | Evict):
            held[decision.subject] = isinstance(decision, Admit)
    return held != before


def _decided(world: World, read: int) -> bool:
    """Return whether anything but waiting was decided from number `read` on."""
    decisions = world.context.journal.decisions
    for index in range(read, len(decisions)):
        if not isinstance(decisions[index], Wait):
            return True
    return False


def place_pods(world: World) -> None:
    """Run the placing scheduler of the stack on the pods that wait for a node."""
    if world.kube is not None:
        world.kube.schedule()
    elif world.yunikorn is not None:
        due = world.yunikorn.due()
        if due is not None and due <= world.context.now_ms:
            world.yunikorn.cycle()
    react(world)
    if world.autoscaling is not None:
        world.autoscaling.scan()
        react(world)


def react(world: World) -> None:
    """Let the lifetime carry out every decision that it has not heard of yet."""
    journal, autoscaling = world.context.journal, world.autoscaling
    while journal.heard < len(journal.decisions):
        decision = journal.decisions[journal.heard]
        journal.heard += 1
        if cluster_of(decision.subject):
            continue  # its own world has carried it out
        world.lifetime.react(decision)
        if autoscaling is not None:
            autoscaling.react(decision)


# ------------------------------------------------------------------------
# Many ticks with no database: from instant to instant, deciding the same.


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    """A finished simulation: what was decided, and why it ended."""

    decisions: list[Decision]
    end_ms: int
    settled: bool  # nothing more would happen by itself


def simulate(
    world: World,
    *,
    until_ms: int,
    stop: Callable[[Decision], bool] | None = None,
    hear: Callable[[Sequence[Decision]], None] | None = None,
) -> SimulationResult:
    """Advance `world` to `until_ms`, to quiet, or to the first decision `stop` takes.

    Jumps over empty time; the decisions are those that ticks would make. With
    `stop`, time ends at the instant of that decision. `hear` gets what was
    decided at each instant, while the world still stands there; neither changes it.
    """
    decisions: list[Decision] = []
    stopped = False
    at = next_instant(world)
    while at is not None and at <= until_ms:
        at = advance(world, max(at, world.context.now_ms), at)
        fresh = world.context.journal.take_decisions()
        decisions += fresh
        if hear is not None:
            hear(fresh)
        if stop is not None and any(stop(decision) for decision in fresh):
            stopped = True
            break
    tick_ms = world.policy.spec.simulation.tick_ms
    world.tick = -(-world.context.now_ms // tick_ms)
    return SimulationResult(
        decisions=decisions,
        end_ms=world.context.now_ms,
        settled=at is None and not stopped,
    )
