"""Files looked at before they are taken: each finding with what repairs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User

from sandbox.actions.import_plan import plan_of, try_out
from sandbox.actions.objects import follow_stack, take_traces_into
from sandbox.actions.tries import counted
from sandbox.base.absences import Absent, NotTaken
from sandbox.base.errors import NotFoundError, SandboxError
from sandbox.live import limits as limited
from sandbox.models import Sandbox
from sandbox.world import worlds
from scheduler.assembly import InputError, StackOpenError, assemble
from scheduler.engine.worlds.memory import gc_paused
from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.manifests.repairs import Repair, Repairs
from scheduler.input.manifests.report import Report, report_of
from scheduler.input.manifests.run_times import assumed_run_times
from scheduler.input.traces.options import NO_OPTIONS, TraceOptions
from scheduler.input.traces.taking import is_trace
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.patches import merge
from scheduler.model.sentence import Sentence

Files = Sequence[tuple[str, str]]
#: Findings that are answered; of more their number.
MOST_FINDINGS = 500
_ORDER = ("error", "warning", "unsupported")


@dataclass(frozen=True, slots=True)
class Repairable:
    """A finding and the choices that repair it."""

    finding: Finding
    repairs: tuple[Repair, ...]


@dataclass(slots=True, kw_only=True)
class DryImport:
    """What an import of files would say; nothing was changed."""

    findings: list[Repairable]
    errors: int
    left: int  # findings beyond those answered
    report: Report
    refused: Sentence | None = None  # why nothing would be taken
    stacks: list[str] = field(default_factory=list)  # to choose from


@dataclass(slots=True)
class _Tried:
    """What a try found."""

    loaded: Loaded
    span: str = ""  # the run time assumed; "" where nothing was taken
    refused: Sentence | None = None
    stacks: list[str] = field(default_factory=list)
    present: list[Key] = field(default_factory=list)


def look_at_files(
    user: User,
    files: Files,
    *,
    into: str = "",
    policy: Mapping[str, Any] | None = None,
    traces: TraceOptions = NO_OPTIONS,
    said: Sequence[Finding] = (),
) -> DryImport:
    """Return what a new sandbox of the files, or an import `into` one, would say.

    `policy` is a patch of the spec of a new one; `said` is found of the files already.
    Raises NotFoundError for a sandbox that is not there, InvalidError for what passes
    a limit.
    """
    limited.check_bytes(files)
    with counted(files), gc_paused():
        found = (
            _into(user, into, files, traces)
            if into
            else _anew(files, policy or {}, traces)
        )
        loaded = found.loaded
        limited.check_objects(len(loaded.objects))
        loaded.findings += said
        if found.span:
            loaded.findings += assumed_run_times(loaded, found.span)
        return _answer(files, found)


def _answer(files: Files, found: _Tried) -> DryImport:
    loaded = found.loaded
    findings = sorted(loaded.findings, key=lambda one: _ORDER.index(one.level))
    repairs = Repairs(sources=files, loaded=loaded, present=found.present)
    shown = [Repairable(one, repairs.of(one)) for one in findings[:MOST_FINDINGS]]
    return DryImport(
        findings=shown,
        errors=len(loaded.errors),
        left=len(findings) - len(shown),
        report=report_of(loaded),
        refused=found.refused,
        stacks=found.stacks,
    )


def _anew(files: Files, policy: Mapping[str, Any], traces: TraceOptions) -> _Tried:
    try:
        made = assemble(
            files,
            policy=policy,
            limits=limited.of_texts(),
            skip_errors=True,
            traces=traces,
        )
    except StackOpenError as error:
        stacks = str(error.asks.holes["stacks"]).split(" or ") if error.asks else []
        found = _anew(files, merge(dict(policy), {"stack": stacks[0]}), traces)
        found.refused, found.stacks = error.asks, stacks
        return found
    except InputError as error:
        return _Tried(error.loaded, refused=error.asks or NotTaken.FILES.said())
    except SchedulerError as error:
        return _Tried(Loaded(files=[name for name, _ in files]), refused=error.said)
    simulation = made.world.policy.spec.simulation
    return _Tried(made.loaded, simulation.default_runtime)


def _into(user: User, into: str, files: Files, traces: TraceOptions) -> _Tried:
    if not Sandbox.objects.visible_to(user).filter(pk=into).exists():
        raise NotFoundError(Absent.SANDBOX.said(sandbox=into))
    world, _ = worlds.copy_of(into)
    texts = [file for file in files if not is_trace(*file)]
    loaded = load(texts, limits=limited.of_texts())
    found = _Tried(loaded, present=list(world.objects))
    try:
        follow_stack(world, loaded)
        take_traces_into(world, loaded, files, traces)
        operation, _ = plan_of(world, loaded, skip_errors=True)
        try_out(world, operation)
    except SandboxError as error:
        found.refused = error.said
        return found
    found.span = world.policy.spec.simulation.default_runtime
    return found
