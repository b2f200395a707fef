"""Holding a lesson: open it, show, let followers in, take their guesses, end it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from sandbox.actions.access import note, owned
from sandbox.actions.guests import do_end_guests, new_guest
from sandbox.base.absences import Absent
from sandbox.base.errors import (
    Cause,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
)
from sandbox.base.refusals import Refused
from sandbox.live import lessons
from sandbox.models import Follower, Guess, Lesson
from sandbox.models.lesson import LONGEST_NAME
from sandbox.world import broadcast
from scheduler.model.problems import RequestProblem

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
    broadcast.rights_changed(sandbox_id)
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
    broadcast.news(sandbox_id, lambda: lessons.encode(lessons.news_of(sandbox_id)))
