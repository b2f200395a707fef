"""The script of a lesson: its stops, written in a sandbox or loaded with it, as one file."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.db import transaction

from sandbox.actions.sessions import allowed
from sandbox.base.errors import Cause, ConflictError, InvalidError
from sandbox.base.refusals import Refused
from sandbox.base.scripts import read_script, script_of, script_part
from sandbox.models import Event, Revision, Sandbox
from sandbox.world import history, lineage
from scheduler.analysis.reproduction import start_of_world
from scheduler.analysis.reproduction.trimming import differences, document_of
from scheduler.model.durations import duration_text, span_ms
from scheduler.model.errors import SchedulerError
from scheduler.model.scenario import Checkpoint

#: Decisions between a stop and its answer that the lesson expects again.
_EXPECTED = ("Admit", "Preempt", "Bind")
_MOST_EXPECTED = 12


@transaction.atomic
def do_write_script(user: User, sandbox_id: str, script: Mapping[str, Any]) -> Sandbox:
    """Keep a lesson with a sandbox; what happened first at each stop is expected again.

    Raises InvalidError for what is no lesson.
    """
    allowed(user, sandbox_id)
    sandbox = Sandbox.objects.get(pk=sandbox_id)
    given = {"summary": script["title"], **script, "expect": []}
    try:
        found = read_script(given)
        stops = found.spec.checkpoints
        expect = _expected(sandbox)
        for stop, after in zip_longest(stops, stops[1:]):
            happened = _happened(sandbox, stop, after)
            expect += [one for one in happened if one not in expect]
        found = read_script({**given, "expect": expect})
    except SchedulerError as error:
        raise InvalidError(error.said, causes=[Cause(problem=error.said)]) from error
    sandbox.script = script_part(found)
    Sandbox.objects.filter(pk=sandbox.pk).update(script=sandbox.script)
    return sandbox


def _expected(sandbox: Sandbox) -> list[dict[str, Any]]:
    """Return what the lesson expects so far; nothing of a run that somebody changed."""
    kept = script_of(sandbox.script, sandbox.scenario)
    edits = lineage.rows(Revision, sandbox, sandbox.revision).filter(kind=Revision.EDIT)
    if kept is None or edits.filter(number__gt=1).exists():
        return []
    return [_short(msgspec.to_builtins(one)) for one in kept.spec.expect]


def _short(expected: dict[str, Any]) -> dict[str, Any]:
    """Return an expectation without what it does not say."""
    event = {name: value for name, value in expected.pop("event").items() if value}
    said = {
        name: one
        for name, one in expected.items()
        if one not in ("", None) and one is not False
    }
    return {**said, "event": event}


def _happened(
    sandbox: Sandbox, stop: Checkpoint, after: Checkpoint | None
) -> list[dict[str, Any]]:
    """Return the first decisions between a stop and its answer, as expectations."""
    begin = span_ms(stop.at)
    until = span_ms(stop.shown or (after or stop).at)
    rows = lineage.rows(Event, sandbox, sandbox.revision).filter(
        t_ms__gt=begin, t_ms__lte=until, type__in=_EXPECTED
    )
    found = []
    for event in rows.order_by("revision", "seq")[:_MOST_EXPECTED]:
        match = {"type": event.type, "subject": event.subject, "reason": event.reason}
        if event.type == "Preempt" and event.by:
            match["by"] = event.by
        known = {name: text for name, text in match.items() if text}
        found.append({"at": duration_text(event.t_ms), "event": known})
    return found


def lesson_file(sandbox: Sandbox) -> list[dict[str, Any]]:
    """Return a lesson as the documents of one file: the scenario, and its first world.

    What is opened from it is the same world, to the last byte after its first tick.
    Raises ConflictError without a lesson, for a recording, and for a run that somebody
    changed on the way: a file plays by itself.
    """
    script = script_of(sandbox.script, sandbox.scenario)
    if script is None or not script.spec.checkpoints:
        raise ConflictError(Refused.NO_SCRIPT.said())
    if sandbox.source:
        raise ConflictError(Refused.LESSON_OF_REAL.said())
    first = history.revision_at(sandbox, 0)
    changed = lineage.rows(Revision, sandbox, sandbox.revision).filter(
        number__gt=first, kind=Revision.EDIT
    )
    tick = changed.order_by("number").values_list("tick", flat=True).first()
    if tick is not None:
        raise ConflictError(Refused.CHANGED_ON_THE_WAY.said(tick=tick))
    world = history.world_at(sandbox, first)
    until = max(span_ms(script.spec.horizon), sandbox.tick * sandbox.tick_ms)
    # What comes after the horizon is of the world, too.
    start = start_of_world(world, max(until, *world.lifetime.future.values(), 0))
    policy = differences(start.policy)
    policy.get("simulation", {}).pop("startTime", None)
    document = {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Scenario",
        "metadata": {"name": "lesson"},
        "spec": {
            **script_part(script),
            "seed": start.seed,
            "horizon": duration_text(until),
            "policy": policy,
        },
    }
    return [document, *map(document_of, start.objects)]
