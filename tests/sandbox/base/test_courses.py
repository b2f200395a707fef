"""A course is the lessons of one text, in the order of its statements."""

from __future__ import annotations

from sandbox.base import library
from scheduler.model.scenario import TEXTS


def test_each_text_has_a_course_of_lessons_with_stops() -> None:
    found = library.courses()
    assert set(found) == set(TEXTS)
    for lessons in found.values():
        assert len(lessons) == len(set(lessons)) > 1
        assert all(library.scenario_named(name).spec.checkpoints for name in lessons)


def test_a_course_begins_with_who_shows_the_first_statement() -> None:
    assert library.courses()["kueue-preemption"][:2] == (
        "classical-own-queue",
        "classical-borrow-within-cohort",
    )
