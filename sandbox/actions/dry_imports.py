"""Files looked at before they are taken: each finding with what repairs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from django.contrib.auth.models import User

from sandbox.access import limits as limited
from sandbox.actions.import_plan import plan_of, try_out
from sandbox.actions.objects import follow_stack, take_traces_into
from sandbox.actions.tries import counted
from sandbox.base.errors import NotFoundError, SandboxError
from sandbox.base.refusals import Absent, NotTaken
from sandbox.models import Sandbox
from sandbox.world import worlds
from scheduler.assembly import InputError, StackOpenError, assemble, expand_loads
from scheduler.engine.lifetime.runtime_state import JOB_KINDS
from scheduler.engine.worlds.objects import gc_paused
from scheduler.input.manifests.chosen_run_times import (
    NO_CHOICE,
    RunTimeChoice,
    take_chosen_run_times,
    untimed,
)
from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.identity import UNFILLED
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.manifests.loading.pasted import unfilled_in
from scheduler.input.manifests.references import NODES
from scheduler.input.manifests.repairs import Repair, Repairs, applied
from scheduler.input.manifests.report import Report, report_of
from scheduler.input.manifests.run_times import assumed_run_times
from scheduler.input.traces.options import NO_OPTIONS, TraceOptions
from scheduler.input.traces.taking import is_trace
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Object
from scheduler.model.patches import merge
from scheduler.model.policy import Stack
from scheduler.model.sentence import Sentence
from scheduler.words.findings import Missing

Files = Sequence[tuple[str, str]]
#: Kinds of which pods or Workloads come.
_WORK = frozenset({*JOB_KINDS, "Pod", "Workload"})
#: Findings that are answered; of more their number.
MOST_FINDINGS = 500
#: Objects without a run time that are answered by name.
MOST_UNTIMED = 200
#: Placeholders that are answered.
MOST_UNFILLED = 500
_ORDER = ("error", "warning", "unsupported")
#: What is repaired may show what it hid: so often all is repaired that has one repair.
MOST_ROUNDS = 5
#: Quota without nodes is a world too: not repaired unless somebody asks for it.
_MAY_BE_MEANT = Missing.NO_NODES.value


@dataclass(frozen=True, slots=True)
class Repairable:
    """A finding and the choices that repair it."""

    finding: Finding
    repairs: tuple[Repair, ...]


@dataclass(frozen=True, slots=True)
class Unfilled:
    """A placeholder, as it is written, at its line."""

    file: str
    line: int
    name: str


@dataclass(slots=True, kw_only=True)
class DryImport:
    """What an import of files would say; nothing was changed."""

    files: Files  # with the repairs that were asked for
    findings: list[Repairable]
    errors: int
    left: int  # findings beyond those answered
    report: Report
    refused: Sentence | None = None  # why nothing would be taken
    stacks: Sequence[Stack] = ()  # to choose from
    untimed: Sequence[Object] = ()  # whose run time is assumed
    unfilled: Sequence[Unfilled] = ()  # for which these files are not taken
    work: bool = False  # new work alone, of which `would` says when it starts


@dataclass(slots=True)
class _Tried:
    """What a try found."""

    loaded: Loaded
    span: str = ""  # the run time assumed; "" where nothing was taken
    refused: Sentence | None = None
    stacks: list[Stack] = field(default_factory=list)
    present: list[Object] = field(default_factory=list)
    work: bool = False


def look_at_files(
    user: User,
    files: Files,
    *,
    into: str = "",
    policy: Mapping[str, Any] | None = None,
    traces: TraceOptions = NO_OPTIONS,
    run_times: RunTimeChoice = NO_CHOICE,
    said: Sequence[Finding] = (),
    repairs: Sequence[Repair] = (),
    repair_all: bool = False,
) -> DryImport:
    """Return what a new sandbox of the files, or an import `into` one, would say.

    `policy` is a patch of the spec of a new one; `said` is found of the files already.
    The files are looked at with `repairs` applied; `repair_all` applies what is the
    one repair of a finding as well, and of what shows then.
    Raises NotFoundError for a sandbox that does not exist, InvalidError for what passes
    a limit.
    """
    files = applied(files, repairs)
    limited.check_bytes(files)
    with counted(files), gc_paused():
        for last in range(MOST_ROUNDS - 1, -1, -1):
            found = (
                _into(user, into, files, traces, run_times)
                if into
                else _anew(files, policy or {}, traces, run_times)
            )
            limited.check_objects(len(found.loaded.objects))
            if run_times.strict:
                found.span = ""  # nothing is assumed
            answer = _answer(files, found, said)
            single = [
                one.repairs[0]
                for one in answer.findings
                if len(one.repairs) == 1 and one.finding.said.code != _MAY_BE_MEANT
            ]
            if not (repair_all and single and last):
                return answer
            files = applied(files, single)
            limited.check_bytes(files)
        raise AssertionError("the last round answers")


def _answer(files: Files, found: _Tried, said: Sequence[Finding]) -> DryImport:
    loaded = found.loaded
    loaded.findings += said
    if found.span:
        loaded.findings += assumed_run_times(loaded, found.span)
    findings = sorted(loaded.findings, key=lambda one: _ORDER.index(one.level))
    repairs = Repairs(loaded=loaded, present=found.present)
    shown = [Repairable(one, repairs.of(one)) for one in findings[:MOST_FINDINGS]]
    return DryImport(
        files=files,
        findings=shown,
        errors=len(loaded.errors),
        left=len(findings) - len(shown),
        report=report_of(loaded),
        refused=found.refused,
        stacks=found.stacks,
        untimed=untimed(loaded.objects, MOST_UNTIMED) if found.span else (),
        unfilled=[*islice(_unfilled(files, findings), MOST_UNFILLED)],
        work=found.work,
    )


def _unfilled(files: Files, findings: Sequence[Finding]) -> Iterator[Unfilled]:
    """Yield the placeholders of the files that are not taken for theirs."""
    found = {one.place.file for one in findings if one.said.code in UNFILLED}
    for file, text in files:
        if file in found:
            for line, name in unfilled_in(text, file, limited.of_texts()):
                yield Unfilled(file, line, name)


def _anew(
    files: Files,
    policy: Mapping[str, Any],
    traces: TraceOptions,
    run_times: RunTimeChoice,
) -> _Tried:
    try:
        made = assemble(
            files,
            policy=policy,
            limits=limited.of_texts(),
            skip_errors=True,
            traces=traces,
            change=partial(take_chosen_run_times, choice=run_times),
        )
    except StackOpenError as error:
        stacks = list(error.stacks)
        found = _anew(
            files, merge(dict(policy), {"stack": stacks[0]}), traces, run_times
        )
        found.refused, found.stacks = error.asks, stacks
        return found
    except InputError as error:
        return _Tried(error.loaded, refused=error.asks or NotTaken.FILES.said())
    except SchedulerError as error:
        return _Tried(Loaded(files=[name for name, _ in files]), refused=error.said)
    spec = made.world.policy.spec
    if spec.stack == "kueue":
        made.loaded.findings += _without_nodes(made.loaded)
    return _Tried(made.loaded, spec.simulation.default_runtime)


def _without_nodes(loaded: Loaded) -> Iterator[Finding]:
    """Yield that there is no Node for what the ClusterQueues admit."""
    kinds = {obj.key.kind for obj in loaded.objects}
    if kinds & NODES or not kinds & {"ClusterQueue"}:
        return
    first = next(obj for obj in loaded.objects if obj.key.kind == "ClusterQueue")
    place = loaded.places[first.key].place("spec.resourceGroups")
    yield Finding("warning", place, Missing.NO_NODES.said())


def _into(
    user: User, into: str, files: Files, traces: TraceOptions, run_times: RunTimeChoice
) -> _Tried:
    if not Sandbox.objects.visible_to(user).filter(pk=into).exists():
        raise NotFoundError(Absent.SANDBOX.said(sandbox=into))
    world, _ = worlds.copy_of(into)
    texts = [file for file in files if not is_trace(*file)]
    loaded = load(texts, limits=limited.of_texts())
    found = _Tried(loaded, present=list(world.objects.values()))
    found.work = bool(loaded.objects) and all(
        one.key.kind in _WORK and one.key not in world.objects for one in loaded.objects
    )
    try:
        follow_stack(world, loaded)
        take_traces_into(world, loaded, files, traces)
        expand_loads(loaded, world.context.seed, dict(files), world.context.now_ms)
        take_chosen_run_times(loaded, run_times)
        operation, _ = plan_of(world, loaded, skip_errors=True)
        try_out(world, operation)
    except SandboxError as error:
        found.refused = error.said
        return found
    found.span = world.policy.spec.simulation.default_runtime
    return found
