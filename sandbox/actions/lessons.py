"""Holding a lesson: open it, show, let followers in, take their guesses, end it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import zip_longest
from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from sandbox.access import lessons
from sandbox.actions.access import note, owned
from sandbox.actions.sessions import allowed
from sandbox.base.errors import (
    Cause,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
)
from sandbox.base.library import read_script, script_of, script_part
from sandbox.base.refusals import Absent, Refused
from sandbox.models import Event, Follower, Guess, Lesson, Revision, Sandbox
from sandbox.models.access import LONGEST_NAME
from sandbox.models.sandbox import GUEST, new_id
from sandbox.world import commits, history
from scheduler.analysis.reproduction import start_of_world
from scheduler.analysis.reproduction.trimming import differences, document_of
from scheduler.model.durations import duration_text, span_ms
from scheduler.model.errors import PolicyError, SchedulerError
from scheduler.model.problems import RequestProblem
from scheduler.model.scenario import Checkpoint

#: A lesson that nobody ended ends by itself.
LONGEST = timedelta(hours=12)
#: More browsers than any class has; a code that leaked fills no table.
MOST_FOLLOWERS = 1000


@transaction.atomic
def do_start_lesson(user: User, sandbox_id: str) -> Lesson:
    """Open a lesson in one's own sandbox, or return the one that runs."""
    sandbox = owned(user, sandbox_id)
    running = Lesson.objects.running().filter(sandbox=sandbox).first()
    if running is not None:
        return running
    Lesson.objects.filter(sandbox=sandbox).delete()
    made = Lesson.objects.create(
        sandbox=sandbox, expires_at=timezone.now() + LONGEST, shown=lessons.START
    )
    note(user, "lesson", sandbox=sandbox_id)
    _publish(sandbox_id)
    return made


@transaction.atomic
def do_update_lesson(
    user: User, sandbox_id: str, *, view: str, query: str, revealed: Sequence[int]
) -> Lesson:
    """Let followers look at a view, its query, and the answers that were shown."""
    owned(user, sandbox_id)
    lesson = _running(sandbox_id)
    shown = {"view": view, "query": query, "revealed": sorted(set(revealed))}
    if shown != lesson.shown:
        lesson.shown = shown
        lesson.save(update_fields=["shown"])
        _publish(sandbox_id)
    return lesson


@transaction.atomic
def do_end_lesson(user: User, sandbox_id: str) -> None:
    """End the lesson: its code opens nothing, and people who joined by it lose access."""
    owned(user, sandbox_id)
    _running(sandbox_id).delete()
    note(user, "lesson-end", sandbox=sandbox_id)
    _publish(sandbox_id)
    commits.rights_changed(sandbox_id)
    do_end_guests()


@transaction.atomic
def do_join(
    user: User,
    code: str,
    key: str = "",
    *,
    notes: bool = False,
    name: str | None = None,
) -> Follower:
    """Follow the lesson of a code; `key` is what this browser was given before.

    `name` is what they call themselves; None leaves what they said before.

    Who signed in counts once, however many browsers they open; the presenter,
    and everybody in the default run, counts once per browser. A screen with the
    presenter's `notes` counts with nobody.
    """
    lesson = Lesson.objects.running().filter(code=code.strip().upper()).first()
    if lesson is None:
        raise NotFoundError(Absent.LESSON_CODE.said())
    mine = Follower.objects.filter(lesson=lesson, user=user)
    if lesson.sandbox.owner_id == user.pk:
        mine = mine.filter(key=key)
    found = mine.first()
    if found is not None:
        named = found.name if name is None else _tidy(name)
        if (found.notes, found.name) != (notes, named):
            found.notes, found.name = notes, named
            found.save(update_fields=["notes", "name"])
            _publish(lesson.sandbox_id)
        return found
    if Follower.objects.filter(lesson=lesson).count() >= MOST_FOLLOWERS:
        raise ForbiddenError(Refused.FULL_LESSON.said(n=MOST_FOLLOWERS))
    made = Follower.objects.create(
        lesson=lesson, user=user, notes=notes, name=_tidy(name or "")
    )
    note(user, "join", sandbox=lesson.sandbox_id)
    _publish(lesson.sandbox_id)
    return made


@transaction.atomic
def do_join_as_guest(code: str, name: str = "") -> User:
    """Make a guest who follows the lesson of a code, under a name or none.

    Raises NotFoundError for a code of no lesson, ForbiddenError where no more fit;
    then no guest is made.
    """
    guest = new_guest()
    do_join(guest, code, name=name)
    return guest


@transaction.atomic
def do_guess(user: User, sandbox_id: str, key: str, *, stop: int, choice: int) -> None:
    """Keep what a follower expects; refused once the answer was shown."""
    lesson = _running(sandbox_id)
    follower = Follower.objects.filter(lesson=lesson, user=user, key=key).first()
    if follower is None:
        raise NotFoundError(Absent.FOLLOWER.said(key=key))
    if stop in lesson.shown["revealed"]:
        raise ConflictError(Refused.SHOWN_ALREADY.said())
    most = lessons.choices_of(lesson.sandbox, stop)
    if choice >= most:
        problem = RequestProblem.CHOICES.said(most=most, stop=stop, given=choice)
        raise InvalidError(problem, causes=[Cause(problem=problem, field="choice")])
    Guess.objects.update_or_create(
        follower=follower, stop=stop, defaults={"choice": choice}
    )
    _publish(sandbox_id)


def _tidy(name: str) -> str:
    """Return a name in one line, cut to what is kept."""
    shown = "".join(one if one.isprintable() else " " for one in name)
    return " ".join(shown.split())[:LONGEST_NAME].rstrip()


def _running(sandbox_id: str) -> Lesson:
    found = Lesson.objects.running().filter(sandbox_id=sandbox_id).first()
    if found is None:
        raise NotFoundError(Absent.LESSON.said())
    return found


def _publish(sandbox_id: str) -> None:
    """Send it to every page of the sandbox, once this is committed."""
    Lesson.objects.filter(sandbox_id=sandbox_id).update(version=F("version") + 1)
    commits.news(sandbox_id, lambda: lessons.encode(lessons.news_of(sandbox_id)))


# ------------------------------------------------------------------------
# Guests: who follows a lesson without an account, and nothing else, until it ends.


def new_guest() -> User:
    """Return a guest, who follows nothing yet and cannot sign in with a password."""
    guest = User(username=f"{GUEST}{new_id()}")
    guest.set_unusable_password()
    guest.save()
    return guest


@transaction.atomic
def do_end_guests() -> int:
    """Delete the guests who follow no lesson that runs; return how many.

    Their sessions and streams end with them.
    """
    following = Lesson.objects.running().exclude(follower=None)
    guests = User.objects.filter(username__startswith=GUEST)
    gone = guests.exclude(pk__in=following.values("follower__user_id"))
    ids = list(gone.values_list("pk", flat=True))
    if ids:
        User.objects.filter(pk__in=ids).delete()
    for user_id in ids:
        commits.person_changed(user_id)
    return len(ids)


# ------------------------------------------------------------------------
# The script of a lesson: its stops, written in a sandbox or loaded with it, as one
# file.


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
        _check_right(stops)
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


def _check_right(stops: Sequence[Checkpoint]) -> None:
    """Refuse choices of which none is right: a bet on them has no answer."""
    for number, stop in enumerate(stops):
        if stop.choices and stop.right is None:
            said = RequestProblem.NO_RIGHT.said(most=len(stop.choices), stop=number)
            raise PolicyError(said, f"checkpoints[{number}].right")


def _expected(sandbox: Sandbox) -> list[dict[str, Any]]:
    """Return what the lesson expects so far; nothing of a run that somebody changed."""
    kept = script_of(sandbox.script, sandbox.scenario)
    edits = history.rows_of(Revision, sandbox, sandbox.revision).filter(
        kind=Revision.EDIT
    )
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
    rows = history.rows_of(Event, sandbox, sandbox.revision).filter(
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
    changed = history.rows_of(Revision, sandbox, sandbox.revision).filter(
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
