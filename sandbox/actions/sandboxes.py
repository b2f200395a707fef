"""How sandboxes come, are named, and go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from sandbox.access import limits as limited
from sandbox.actions.objects import keep_report
from sandbox.actions.sessions import allowed, edit_session
from sandbox.actions.tries import counted
from sandbox.base import library
from sandbox.base.errors import Cause, ForbiddenError, GoneError, InvalidError
from sandbox.base.library import script_part
from sandbox.base.refusals import Denied, NotTaken
from sandbox.models import Checkpoint, Revision, Sandbox
from sandbox.page import rows
from sandbox.page.events import EventRecord, kept
from sandbox.page.packing import pack_page, pack_world
from sandbox.page.rows.tally import WorkloadTally
from sandbox.page.rows.transport import KEY
from sandbox.retention import retention
from sandbox.twins.recordings import read_recording
from sandbox.world import commits, history, leases, worlds
from sandbox.world.commits import CommitRequest
from sandbox.world.findings import causes_of
from sandbox.world.operations import Begin, Transport
from sandbox.world.worlds import LoadedSandbox
from scheduler.assembly import Assembled, InputError, assemble
from scheduler.engine.world import World
from scheduler.engine.worlds.objects import gc_paused
from scheduler.input.manifests.chosen_run_times import (
    NO_CHOICE,
    RunTimeChoice,
    take_chosen_run_times,
)
from scheduler.input.manifests.loading.loaded import Finding
from scheduler.input.manifests.repairs import Repairs
from scheduler.input.manifests.report import Report, report_of
from scheduler.input.traces.options import NO_OPTIONS, TraceOptions
from scheduler.model import durations
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import Wanted, expected
from scheduler.model.texts.plain_text import printable
from scheduler.recorded.twin.played import recording_of
from scheduler.words.edits import Edited

Files = Sequence[tuple[str, str]]  # (name, text)


class Created(NamedTuple):
    """A sandbox just made, and what was found in its files."""

    sandbox: Sandbox
    findings: list[Cause]
    report: Report


def do_create(
    user: User,
    *,
    title: str = "",
    files: Files = (),
    scenario: str = "",
    seed: int | None = None,
    policy: Mapping[str, Any] | None = None,
    skip_errors: bool = False,
    traces: TraceOptions = NO_OPTIONS,
    run_times: RunTimeChoice = NO_CHOICE,
    said: Sequence[Finding] = (),
    sandbox_id: str = "",
) -> Created:
    """Make a sandbox of a scenario of the library, of files, or empty; paused.

    `policy` is a patch of the policy's spec. Raises InvalidError with every
    finding of the files; then nothing is made. A scenario of a twin becomes one: it
    shows a recording of its run. With `skip_errors` what cannot be
    taken is left out; `traces` says how the traces among the files are taken,
    `run_times` how long work takes that nobody gave a run time;
    `said` is found of the files already and belongs to the report; `sandbox_id` is a
    new one for it.
    """
    limited.check_sandboxes(user)
    limited.check_bytes(files)
    with counted(files):
        if scenario:
            files = [*library.files_of(scenario), *files]
        with gc_paused():
            made = _assemble(
                files,
                seed=seed,
                policy=policy or {},
                limits=limited.of_texts(),
                skip_errors=skip_errors,
                traces=traces,
                change=partial(take_chosen_run_times, choice=run_times),
            )
        limited.check_objects(len(made.loaded.objects))
        limited.check_texts(files, made.loaded.objects)
        columns = {
            "title": title or _title(made) or "New sandbox",
            "scenario": scenario,
            "script": _script(made) if not scenario else {},
            **({"id": sandbox_id} if sandbox_id else {}),
        }
        sandbox = _show_run(user, made, columns) or begin(user, made.world, **columns)
        made.loaded.findings += said
        repairs = Repairs(loaded=made.loaded)
        report = report_of(
            made.loaded,
            repairs=repairs,
            default_runtime=made.world.policy.spec.simulation.default_runtime,
        )
        if not scenario:
            keep_report(user, sandbox, sandbox.revision, report)
        return Created(sandbox, causes_of(made.loaded.findings, repairs), report)


def _show_run(
    user: User, made: Assembled, columns: Mapping[str, Any]
) -> Sandbox | None:
    """Return a twin that shows what was recorded of a scenario of one; else None."""
    scenario = made.scenario
    if scenario is None or scenario.spec.twin is None:
        return None
    until = durations.span_ms(scenario.spec.horizon)
    name = f"{scenario.metadata.get('name', 'scenario')}.qrec"
    found = read_recording([(name, recording_of(made.world, until))])
    with transaction.atomic():
        sandbox = begin(user, found.world, **columns, **found.columns())
        found.keep(sandbox)
    return sandbox


def _assemble(files: Files, **given: Any) -> Assembled:
    try:
        return assemble(files, **given)
    except InputError as error:
        raise InvalidError(
            error.asks or NotTaken.FILES.said(),
            causes=causes_of(error.loaded.findings, Repairs(loaded=error.loaded)),
        ) from error
    except SchedulerError as error:
        raise InvalidError(error.said, causes=[Cause(problem=error.said)]) from error


def _script(made: Assembled) -> dict[str, Any]:
    """Return the lesson that files came with; nothing without one."""
    return script_part(made.scenario) if made.scenario else {}


def _title(made: Assembled) -> str:
    return printable(made.scenario.spec.title.get("en", "")) if made.scenario else ""


def begin(user: User, world: World, **columns: Any) -> Sandbox:
    """Write a world as a new sandbox; its first revision is its first checkpoint."""
    sandbox = Sandbox(
        owner=user,
        stack=world.policy.spec.stack,
        seed=world.context.seed,
        header=worlds.header_bytes(world),
        start_policy=world.policy.document(),
        **columns,
    )
    held = LoadedSandbox(sandbox.pk, sandbox.revision, world, {}, WorkloadTally())
    said = Edited.MAKES.said(who=user.get_username(), title=sandbox.title)
    line = EventRecord(
        t_ms=world.context.now_ms,
        type="Edit",
        subject=KEY,
        by=f"User//{user.get_username()}",
        reason="Create",
        message=said.text,
        said=kept(said),
    )
    with worlds.lock(sandbox.pk), transaction.atomic():
        sandbox.save(force_insert=True)
        claim = leases.take(sandbox.pk)
        assert claim is not None, "nobody else knows a sandbox before it is committed"
        work = CommitRequest(
            operation=Begin(), who=user.pk, summary=said, edits=[line], whole=True
        )
        made = commits.make_revision(held, sandbox, work)
        commits.write(held, sandbox, claim, [made])
        leases.release(claim)
    worlds.put(held)
    return sandbox


def do_rename(user: User, sandbox_id: str, title: str) -> None:
    """Give the sandbox another title."""
    title = title.strip()
    if not 0 < len(title) <= 200:
        problem = expected(
            Wanted.CHARACTERS.said(least="1", most="200"), given=len(title)
        )
        raise InvalidError(problem, causes=[Cause(problem=problem, field="title")])
    with edit_session(user, sandbox_id, of_world=False) as session:
        summary = Edited.RENAMES.said(who=user.get_username(), title=title)
        before = session.sandbox.title
        line = session.edit_event(
            user, "Rename", KEY, summary, before=before, after=title
        )
        session.commit(
            CommitRequest(
                operation=Transport(),
                who=user.pk,
                summary=summary,
                edits=[line],
                columns={"title": title},
            )
        )


def do_set_visibility(user: User, sandbox_id: str, visibility: str) -> None:
    """Choose whether only members or everybody may see the sandbox."""
    allowed(user, sandbox_id)
    own = Sandbox.objects.filter(pk=sandbox_id, owner_id=user.pk)
    if visibility not in (Sandbox.PRIVATE, Sandbox.PUBLIC):
        problem = expected(
            Wanted.CHOICE.said(first="private", last="public"), visibility
        )
        raise InvalidError(problem, causes=[Cause(problem=problem, field="visibility")])
    if not own.update(visibility=visibility):
        raise ForbiddenError(Denied.SHOW.said())
    commits.rights_changed(sandbox_id)


def do_delete_sandbox(user: User, sandbox_id: str) -> None:
    """Delete the sandbox with its history; forks keep what is their own."""
    allowed(user, sandbox_id)
    if not Sandbox.objects.filter(pk=sandbox_id, owner_id=user.pk).exists():
        raise ForbiddenError(Denied.DELETE.said())

    def family() -> list[str]:
        return [one.pk for one in retention.descendants(Sandbox(pk=sandbox_id))]

    with leases.lineage_claimed(sandbox_id, family), transaction.atomic():
        forks = list(retention.descendants(Sandbox.objects.get(pk=sandbox_id)))
        for fork in forks:
            if fork.parent_id == sandbox_id:
                _begin_with_checkpoint(fork.pk)
        Sandbox.objects.filter(pk=sandbox_id).delete()
        for fork in forks:
            _begin_later(fork.pk)
        commits.gone(sandbox_id)
    worlds.drop(sandbox_id)


def _begin_with_checkpoint(fork_id: str) -> None:
    """Give a fork a checkpoint of its own, where its own revisions begin.

    Where that past cannot be run again, its history begins now.
    """
    fork = Sandbox.objects.select_related("parent").get(pk=fork_id)
    if fork.archived_at is not None:
        return
    own = Revision.objects.filter(sandbox=fork).order_by("number")
    first = own.filter(number__gte=fork.kept_revision).first()
    if first is None or Checkpoint.objects.filter(
        sandbox=fork, revision__lte=first.number, revision__gte=fork.kept_revision
    ):
        return
    try:
        world, page = (
            history.world_at(fork, first.number),
            history.page_at(fork, first.number),
        )
        revision, tick = first.number, first.tick
    except GoneError:
        world = worlds.fresh(fork)
        page = rows.page_of(world, fork)
        revision, tick = fork.revision, fork.tick
    Checkpoint.objects.get_or_create(
        sandbox=fork,
        revision=revision,
        defaults={"tick": tick, "world": pack_world(world), "page": pack_page(page)},
    )


def _begin_later(fork_id: str) -> None:
    """Let a fork's history begin where its own begins: what it shared is gone."""
    fork = Sandbox.objects.select_related("parent").get(pk=fork_id)
    if fork.archived_at is not None:
        return
    first = history.rows_of(Checkpoint, fork, whole=True).order_by("revision")
    revision, tick = first.values_list("revision", "tick")[0]
    Sandbox.objects.filter(pk=fork_id, kept_revision__lt=revision).update(
        kept_revision=revision, kept_tick=tick
    )


def do_first_run(user: User) -> Sandbox | None:
    """Give a user who has no sandbox the first one, ready to play."""
    if Sandbox.objects.filter(owner_id=user.pk).exists():
        return None
    scenarios = library.names()
    return do_create(user, scenario=scenarios[0]).sandbox if scenarios else None
