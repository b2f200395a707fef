"""`python -m scheduler explain`: why each workload of a scenario waits, at an instant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from scheduler.analysis.explain import places, to_document
from scheduler.analysis.explain.answers import key_of, lines_of, overview
from scheduler.analysis.explain.past import DecidedPast
from scheduler.analysis.explain.pods import explain_pod
from scheduler.analysis.explain.preemptions import explain_preemption
from scheduler.analysis.explain.shapes import (
    AskExplanation,
    Explanation,
    ExtensionPoint,
    PodExplanation,
    PodPreemption,
    Preemption,
    TriedNode,
)
from scheduler.analysis.explain.workloads import explain
from scheduler.analysis.explain.would import overview_run
from scheduler.cli.files import add_stack_word
from scheduler.cli.run import assemble_as, read_sources, world_at
from scheduler.cli.statuses import refused
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.decisions import Bind, Decision, Preempt
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, cluster_of

#: The states of a workload that waits for nothing.
_SETTLED = frozenset({"admitted", "finished", "future"})
#: Workloads that are explained in full where nobody is named.
_MOST_SHOWN = 20
_Detail = PodExplanation | AskExplanation | Preemption | PodPreemption


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Run a scenario up to an instant and explain there; 1 where nothing waits, 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        world = world_at(options.paths, options.at, options.stack)
        if options.about:
            return _write_answers(out, world, options)
        return _write_all(out, world, options)
    except (SchedulerError, OSError) as error:
        return refused(error)


def _write_answers(out: TextIO, world: World, options: argparse.Namespace) -> int:
    """Write why what is named is as it is, whatever it is, and when what waits starts."""
    decisions = world.take().decisions
    found = overview_run(world, options.about, DecidedPast(decisions))
    details = list[_Detail]()
    for key in map(key_of, found.answers) if options.steps else ():
        details += _details(world, key, decisions, options)
    if options.json:
        out.write(_json([found, *details]))
        return 0
    out.writelines(f"{line}\n" for line in lines_of(to_document(found)))
    for one in details:
        out.writelines(f"  {line}\n" for line in _steps(one))
    return 0


def _write_all(out: TextIO, world: World, options: argparse.Namespace) -> int:
    """Write what waits and for what, the most first, then each Workload that waits."""
    whole, found = overview(world), list(_explained(world))
    if options.json:
        out.write(_json([whole, *found]))
        return 0
    if not whole.waiting:
        sys.stderr.write(f"nothing waits at {options.at}\n")
        return 1
    out.writelines(f"{line}\n" for line in lines_of(to_document(whole)))
    out.write(_text(found[:_MOST_SHOWN]))
    if found[_MOST_SHOWN:]:
        left = len(found) - _MOST_SHOWN
        out.write(f"and {left} more; --about NAME explains one\n")
    return 0


def _details(
    world: World, key: Key, decisions: Sequence[Decision], options: argparse.Namespace
) -> Iterator[_Detail]:
    """Yield a pod's cycle point by point, and the last search by which one preempted."""
    if key.kind == "Pod" and key in world.objects:
        bound = any(isinstance(one, Bind) and one.subject == key for one in decisions)
        yield explain_pod(world, key, bound=bound)
    made = [one for one in decisions if isinstance(one, Preempt) and one.by == key]
    if made:
        yield explain_preemption(_before(options, made[-1].at_ms), made[-1])


def _steps(found: _Detail) -> Iterator[str]:
    if isinstance(found, PodExplanation):
        yield from map(_point, found.points)
    if isinstance(found, AskExplanation | PodExplanation):
        return
    yield f"It preempts in {found.queue or 'no queue'} at {found.at_ms / 1000:g}s"
    if isinstance(found, Preemption):
        yield from (f"{step.headline}: {step.sentence}" for step in found.search.steps)
        cost = found.cost
        yield (
            f"cost: searches {cost.searches}, candidates looked at {cost.looked}, "
            f"simulations {cost.simulations}"
        )
    else:
        yield from map(_tried, found.nodes)


def _tried(one: TriedNode) -> str:
    names = ", ".join(one.victims)
    return " ".join(filter(None, (f"{one.node}: {one.outcome}", one.why, names)))


def _before(options: argparse.Namespace, at_ms: int) -> World:
    """Return the world at the start of the tick that an instant is in."""
    world = assemble_as(read_sources(options.paths), options.stack).world
    tick_ms = world.policy.spec.simulation.tick_ms
    while world.context.now_ms + tick_ms < at_ms:
        run_tick(world)
    return world


def _point(point: ExtensionPoint) -> str:
    said = (
        f"{one.plugin} {one.verdict}" + (f" ({one.detail})" if one.detail else "")
        for one in point.plugins
        if one.detail or one.verdict not in ("skip", "idle", "notRun")
    )
    none = "not run" if any(o.verdict == "notRun" for o in point.plugins) else "-"
    return f"{point.point}: {'; '.join(said) or none}"


def _explained(world: World) -> Iterator[Explanation]:
    """Yield the explanation of each workload that waits."""
    for key in sorted(world.objects):
        if key.kind == "Workload" and not cluster_of(key):
            answer = explain(*world.inside(key))
            waits = answer.state not in _SETTLED
            if waits or places.sentences_of(*world.inside(key)):
                yield answer


def _text(found: list[Explanation]) -> str:
    return "".join(
        "\n".join([f"{one.workload}: {one.state}", *(f"  {s}" for s in one.sentences)])
        + "\n"
        for one in found
    )


def _json(found: Sequence[Any]) -> str:
    documents = [to_document(one) for one in found]
    return msgspec.json.format(msgspec.json.encode(documents)).decode() + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler explain",
        description="Run a scenario up to an instant and say what waits there and for "
        "what, the most common cause first: quota, whom it would preempt, admission "
        "checks, worker clusters, nodes.",
        epilog="example: python -m scheduler explain sandbox/scenarios/friday-rush "
        "--at 2m30s",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--at", default="5m", help="the instant; 5m")
    parser.add_argument(
        "--about",
        default="",
        metavar="NAME",
        help="this one alone, whatever it is: a Workload, job, pod, gang, application, "
        "queue, cohort or node; with its namespace or kind before it, if need be; KIND/ "
        "is each queue, cohort, quota or node of a kind",
    )
    parser.add_argument(
        "--steps",
        action="store_true",
        help="with --about: also a pod's cycle through every extension point, and the "
        "last search by which it preempted, with its cost",
    )
    parser.add_argument("--json", action="store_true")
    add_stack_word(parser)
    return parser
