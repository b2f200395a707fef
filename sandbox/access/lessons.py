"""What pages hear of a lesson: where its presenter looks, and the count of guesses."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from sandbox.base.errors import NotFoundError
from sandbox.base.library import script_of
from sandbox.base.refusals import Absent
from sandbox.models import Follower, Guess, Lesson, Sandbox
from sandbox.page.wire import FollowerNews, LessonNews, Tally

#: Where a lesson begins: at its first stop, no answer shown.
START: dict[str, Any] = {"view": "board", "query": "lesson=1", "revealed": []}
#: As many are shown one by one.
MOST_SHOWN = 200
_NONE = LessonNews(
    running=False,
    version=0,
    view="",
    query="",
    revealed=[],
    followers=0,
    tallies=[],
    people=[],
)

_encode = msgspec.json.Encoder().encode


def news_of(sandbox_id: str) -> LessonNews:
    """Return the lesson of a sandbox as it is now; three queries."""
    lesson = Lesson.objects.running().filter(sandbox_id=sandbox_id).first()
    if lesson is None:
        return _NONE
    people, tallies = _class_of(lesson)
    return LessonNews(
        running=True,
        version=lesson.version,
        view=lesson.shown["view"],
        query=lesson.shown["query"],
        revealed=lesson.shown["revealed"],
        followers=len(people),
        tallies=tallies,
        people=people[:MOST_SHOWN],
    )


def _class_of(lesson: Lesson) -> tuple[list[FollowerNews], list[Tally]]:
    """Return who follows, in the order of joining, and the count of their guesses.

    A screen with notes is nobody of them, but keeps its number, so that nobody's changes.
    """
    rows = Follower.objects.filter(lesson=lesson).order_by("pk")
    numbered = enumerate(rows.values_list("pk", "notes", "name"), 1)
    answered: dict[int, list[int]] = {}
    people = []
    for number, (pk, notes, name) in numbered:
        if not notes:
            answered[pk] = []
            known = FollowerNews(number=number, name=name, answered=answered[pk])
            people.append(known)
    counts: Counter[tuple[int, int]] = Counter()
    guesses = Guess.objects.filter(follower__lesson=lesson).order_by("stop")
    for pk, stop, choice in guesses.values_list("follower_id", "stop", "choice"):
        if pk in answered:
            answered[pk].append(stop)
            counts[stop, choice] += 1
    tallies = [
        Tally(stop=stop, choice=choice, count=count)
        for (stop, choice), count in sorted(counts.items())
    ]
    return people, tallies


def number_of(follower: Follower) -> int:
    """Return the number of a follower in the order of joining, from 1."""
    before = Follower.objects.filter(lesson=follower.lesson_id, pk__lte=follower.pk)
    return before.count()


def encode(news: LessonNews) -> bytes:
    """Return the news as they travel."""
    return _encode(news)


def running_news(sandbox_id: str) -> str | None:
    """Return the news as text, or None where no lesson is held."""
    news = news_of(sandbox_id)
    return encode(news).decode() if news.running else None


def choices_of(sandbox: Sandbox, stop: int) -> int:
    """Return how many choices a stop's question has; NotFoundError for no stop."""
    found = script_of(sandbox.script, sandbox.scenario)
    stops = found.spec.checkpoints if found is not None else ()
    if stop >= len(stops):
        raise NotFoundError(Absent.STOP.said(stops=len(stops), stop=stop))
    return len(stops[stop].choices)
