"""Objects and policy: import, apply, delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from django.conf import settings
from django.contrib.auth.models import User

from sandbox.access import limits as limited
from sandbox.actions.import_plan import Imported, changed_policy, plan_of, try_out
from sandbox.actions.sessions import EditSession, edit_session, refuse_stale
from sandbox.actions.tries import counted
from sandbox.base.errors import Cause, InvalidError, NotFoundError
from sandbox.base.refusals import Refused
from sandbox.models import ImportReport, Sandbox
from sandbox.page.diffs import RevisionDiff
from sandbox.page.events import EventRecord
from sandbox.page.rows.transport import POLICY_KEY
from sandbox.process import watchdog
from sandbox.retention.retention import drop_oldest
from sandbox.world.commits import CommitRequest
from sandbox.world.operations import Delete, Edit, Put, SetPolicy, Several
from scheduler.assembly import expand_loads, merge
from scheduler.engine.world import World
from scheduler.input.manifests.chosen_run_times import (
    NO_CHOICE,
    RunTimeChoice,
    take_chosen_run_times,
)
from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.manifests.queues_yaml import FILE
from scheduler.input.manifests.report import Report
from scheduler.input.manifests.stack_signs import signs_of
from scheduler.input.traces.options import NO_OPTIONS, TraceOptions
from scheduler.input.traces.taking import is_trace, take_traces
from scheduler.model.objects import Key, stored_key
from scheduler.model.problems import Problem, RequestProblem, Wanted, expected
from scheduler.words.edits import Edited, imported

#: An edit of more objects than this is one event with their number.
MOST_LINES = 50


def do_import(
    user: User,
    sandbox_id: str,
    files: Sequence[tuple[str, str]],
    *,
    objects: Sequence[tuple[str, object]] = (),
    skip_errors: bool = False,
    dry_run: bool = False,
    seen: int | None = None,
    traces: TraceOptions = NO_OPTIONS,
    run_times: RunTimeChoice = NO_CHOICE,
    said: Sequence[Finding] = (),
) -> Imported:
    """Create and change objects from texts: all of them or, on any error, none.

    `objects` are (place, object) pairs beside the texts.
    With `skip_errors` what cannot be taken is left out and the rest is taken.
    `traces` says how the traces among them are taken, `run_times` how long work takes
    that nobody gave a run time; `said` is found of the files already and belongs
    to the report. Raises InvalidError with every finding.
    """
    limited.check_bytes(files)
    with counted(files):
        manifests = [file for file in files if not is_trace(*file)]
        loaded = load(manifests, limits=limited.of_texts(), objects=objects)
        watchdog.leave_to_worker(loaded.pods, settings.PODS_PER_REQUEST)
        loaded.findings += said
        limited.check_objects(len(loaded.objects))
        limited.check_texts(files, loaded.objects)
        with edit_session(user, sandbox_id) as session:
            world = session.loaded.world
            follow_stack(world, loaded)
            take_traces_into(world, loaded, files, traces)
            expand_loads(loaded, world.context.seed, dict(files), world.context.now_ms)
            limited.check_objects(len(loaded.objects))
            take_chosen_run_times(loaded, run_times)
            before = session.sandbox.revision
            answer = _put(
                user,
                session,
                loaded,
                skip_errors=skip_errors,
                dry_run=dry_run,
                seen=seen,
            )
            if answer.report is not None and answer.revision > before:
                keep_report(user, session.sandbox, answer.revision, answer.report)
            return answer


def put_objects(
    user: User,
    session: EditSession,
    loaded: Loaded,
    *,
    only: Key | None = None,
    dry_run: bool = False,
    metadata: Mapping[str, Any] | None = None,
) -> Imported:
    """Create and change objects within an edit that is under way: all, or none.

    Nobody else writes meanwhile: what the caller has read since the session began, a
    version above all, still holds when they are committed. With `only` that object and
    nothing else must be given; `metadata` is then kept of it beside what an import
    keeps of metadata. Raises InvalidError with every finding.
    """
    watchdog.leave_to_worker(loaded.pods, settings.PODS_PER_REQUEST)
    limited.check_objects(len(loaded.objects))
    keys = [obj.key for obj in loaded.objects]
    if only is not None and keys != [only] and not loaded.errors:
        given = ", ".join(map(str, keys)) or "nothing"
        problem = expected(Wanted.ALONE.said(only=only), given=given)
        raise InvalidError(problem, causes=[Cause(problem=problem, field="metadata")])
    if metadata and not loaded.errors:
        loaded.objects[0].manifest["metadata"].update(metadata)
    take_chosen_run_times(loaded, NO_CHOICE)
    return _put(user, session, loaded, dry_run=dry_run)


def _put(
    user: User,
    session: EditSession,
    loaded: Loaded,
    *,
    skip_errors: bool = False,
    dry_run: bool = False,
    seen: int | None = None,
) -> Imported:
    refuse_stale(session.sandbox, seen, [str(obj.key) for obj in loaded.objects])
    operation, answer = plan_of(session.loaded.world, loaded, skip_errors=skip_errors)
    answer.revision = session.sandbox.revision
    if operation is None or dry_run:
        try_out(session.loaded.world, operation)
        return answer
    lines = _lines(user, session, operation, answer)
    session.do(operation)
    who = user.get_username()
    summary = imported(who, answer.created, answer.changed, policy=answer.policy)
    request = CommitRequest(
        operation=operation, who=user.pk, summary=summary, edits=lines
    )
    answer.revision = session.commit(request).revision
    return answer


def follow_stack(world: World, loaded: Loaded) -> None:
    """Let an empty sandbox run the stack that the files are for, where they agree."""
    signs = signs_of(loaded)
    if not world.objects and len(signs) == 1 and loaded.objects:
        (stack,) = signs
        loaded.policy.setdefault("stack", stack)


def take_traces_into(
    world: World,
    loaded: Loaded,
    files: Sequence[tuple[str, str]],
    options: TraceOptions,
) -> None:
    """Add the jobs of traces; they may name queues of the sandbox."""
    take_traces(
        loaded,
        files,
        options=options,
        present=world.objects,
        stack=loaded.policy.get("stack", world.policy.spec.stack),
        start_ms=world.context.now_ms,
    )
    limited.check_objects(len(loaded.objects))


def _lines(
    user: User, session: EditSession, operation: Edit, answer: Imported
) -> list[EventRecord]:
    """Return an event per object, or one for all when they are many."""
    lines = []
    world = session.loaded.world
    for part in operation.parts if isinstance(operation, Several) else [operation]:
        if isinstance(part, SetPolicy):
            lines.append(_policy_line(user, session, part))
        elif isinstance(part, Put) and len(part.manifests) > MOST_LINES:
            count = len(part.manifests)
            said = Edited.PUTS.said(who=user.get_username(), number=count)
            after = {"created": len(answer.created), "changed": len(answer.changed)}
            lines.append(session.edit_event(user, "Import", "", said, after=after))
        elif isinstance(part, Put):
            lines += [_put_line(user, session, world, m) for m in part.manifests]
    return lines


def _put_line(
    user: User, session: EditSession, world: World, manifest: dict[str, Any]
) -> EventRecord:
    key = stored_key(manifest)
    known = world.objects.get(key)
    action = "Update" if known else "Create"
    words = Edited.CHANGES if known else Edited.CREATES
    return session.edit_event(
        user,
        action,
        str(key),
        words.said(who=user.get_username(), kind=key.kind, object=key.path),
        before=known.manifest if known else None,
        after=manifest,
    )


def _policy_line(user: User, session: EditSession, part: SetPolicy) -> EventRecord:
    return session.edit_event(
        user,
        "Policy",
        POLICY_KEY,
        Edited.POLICY.said(who=user.get_username()),
        before=session.loaded.world.policy.document(),
        after=part.document,
    )


def do_policy(
    user: User,
    sandbox_id: str,
    document: dict[str, Any],
    *,
    patch: bool = False,
    dry_run: bool = False,
    seen: int | None = None,
) -> Imported:
    """Replace the policy, or lay a merge patch of the whole document over it."""
    with edit_session(user, sandbox_id) as session:
        refuse_stale(session.sandbox, seen, [POLICY_KEY])
        before = session.loaded.world.policy.document()
        after = merge(before, document) if patch else document
        answer = Imported(revision=session.sandbox.revision)
        operation = changed_policy(before, after, answer)
        if operation is not None:
            keep_start_time(before, operation.document)
        if operation is None or dry_run:
            try_out(session.loaded.world, operation)
            return answer
        lines = [_policy_line(user, session, operation)]
        session.do(operation)
        request = CommitRequest(
            operation=operation,
            who=user.pk,
            summary=Edited.POLICY.said(who=user.get_username()),
            edits=lines,
        )
        answer.revision = session.commit(request).revision
        return answer


def keep_start_time(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Refuse a change of the start time once something has happened: events carry times."""
    now, given = (one["spec"]["simulation"]["startTime"] for one in (before, after))
    if given != now:
        problem = RequestProblem.BEGAN.said(start=now, given=given)
        cause = Cause(problem=problem, field="spec.simulation.startTime")
        raise InvalidError(problem, causes=[cause])


def do_delete(
    user: User, sandbox_id: str, keys: Sequence[Key], *, seen: int | None = None
) -> RevisionDiff:
    """Delete objects; their running work stops."""
    with edit_session(user, sandbox_id) as session:
        refuse_stale(session.sandbox, seen, [str(key) for key in keys])
        return delete_objects(user, session, keys)


def refuse_queues_gone(world: World, key: Key) -> None:
    """Refuse to delete a ConfigMap of YuniKorn's queues, which would stay."""
    texts = world.objects[key].manifest.get("data") or {}
    if world.yunikorn is not None and key.kind == "ConfigMap" and FILE in texts:
        said = Problem.QUEUES_GO.said(name=key.path)
        raise InvalidError(said, causes=[Cause(problem=said, field=f"data.{FILE}")])


def delete_objects(
    user: User, session: EditSession, keys: Sequence[Key]
) -> RevisionDiff:
    """Delete objects within an edit that is under way. Raises NotFoundError."""
    world = session.loaded.world
    for key in keys:
        if key not in world.objects:
            raise NotFoundError(Refused.NOT_THERE.said(kind=key.kind, name=key.path))
        refuse_queues_gone(world, key)
    who = user.get_username()
    said = [
        Edited.DELETES.said(who=who, kind=key.kind, object=key.path) for key in keys
    ]
    lines = [
        session.edit_event(
            user, "Delete", str(key), one, before=world.objects[key].manifest
        )
        for key, one in zip(keys, said, strict=True)
    ]
    operation = Delete([(key.kind, key.namespace, key.name) for key in keys])
    session.do(operation)
    many = Edited.DELETES_MANY.said(who=who, number=len(keys))
    summary = said[0] if len(said) == 1 else many
    return session.commit(
        CommitRequest(operation=operation, who=user.pk, summary=summary, edits=lines)
    )


# ------------------------------------------------------------------------
# Reports of imports, kept with the sandbox.


def keep_report(user: User, sandbox: Sandbox, revision: int, report: Report) -> None:
    """Store the report of an import, unless the import read no file."""
    if not report.files:
        return
    ImportReport.objects.create(
        sandbox_id=sandbox.pk,
        revision=revision,
        tick=sandbox.tick,
        who=user.get_username(),
        report=msgspec.to_builtins(report),
    )
    drop_oldest(ImportReport, sandbox)
