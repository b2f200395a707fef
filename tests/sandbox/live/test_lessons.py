"""A lesson: who may look while it runs, what followers expect, and its end."""

from __future__ import annotations

import datetime
import json

import pytest
from django.contrib.auth.models import User
from django.test import override_settings as with_settings
from django.utils import timezone
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.access import lessons
from sandbox.actions.lessons import MOST_FOLLOWERS
from sandbox.base.errors import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
)
from sandbox.models import Follower, Lesson, Sandbox

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def held(person: User) -> Sandbox:
    """A sandbox of the library in which a lesson is held."""
    made = actions.do_create(person, scenario="friday-rush").sandbox
    actions.do_start_lesson(person, made.pk)
    return made


def code_of(sandbox: Sandbox) -> str:
    return Lesson.objects.get(sandbox=sandbox).code


def sees(user: User, sandbox: Sandbox) -> bool:
    return Sandbox.objects.visible_to(user).filter(pk=sandbox.pk).exists()


def test_the_code_lets_look_and_neither_fork_nor_change(held, stranger):
    assert not sees(stranger, held)
    actions.do_join(stranger, code_of(held).lower())
    assert sees(stranger, held)
    assert not Sandbox.objects.forkable_by(stranger).filter(pk=held.pk).exists()
    assert not Sandbox.objects.editable_by(stranger).filter(pk=held.pk).exists()


def test_the_end_closes_the_link_and_the_code(held, person, stranger):
    code = code_of(held)
    actions.do_join(stranger, code)
    actions.do_end_lesson(person, held.pk)
    assert not sees(stranger, held)
    with pytest.raises(NotFoundError, match="no lesson has this code"):
        actions.do_join(stranger, code)


def test_a_lesson_that_nobody_ended_runs_out(held, person, stranger):
    actions.do_join(stranger, code_of(held))
    past = timezone.now() - datetime.timedelta(seconds=1)
    Lesson.objects.update(expires_at=past)
    assert not sees(stranger, held)
    assert not lessons.news_of(held.pk).running
    assert actions.do_start_lesson(person, held.pk).version == 1


def test_opening_it_twice_keeps_the_code(held, person):
    assert actions.do_start_lesson(person, held.pk).code == code_of(held)


def test_who_signed_in_counts_once_and_the_last_guess_counts(held, person, stranger):
    first = actions.do_join(stranger, code_of(held))
    again = actions.do_join(stranger, code_of(held))
    assert again.key == first.key
    for choice in (0, 1):
        actions.do_guess(stranger, held.pk, first.key, stop=0, choice=choice)
    news = lessons.news_of(held.pk)
    assert news.followers == 1
    assert [(t.stop, t.choice, t.count) for t in news.tallies] == [(0, 1, 1)]


def test_a_full_lesson_takes_nobody_more_and_keeps_who_is_in(held, stranger):
    lesson = Lesson.objects.get(sandbox=held)
    others = User.objects.bulk_create(
        User(username=f"other-{n}") for n in range(MOST_FOLLOWERS - 1)
    )
    Follower.objects.bulk_create(Follower(lesson=lesson, user=u) for u in others)
    actions.do_join(stranger, lesson.code)
    with pytest.raises(ForbiddenError, match=f"{MOST_FOLLOWERS} browsers"):
        actions.do_join(User.objects.create(username="late"), lesson.code)
    assert actions.do_join(stranger, lesson.code).user == stranger


def test_the_presenters_own_browsers_count_each(held, person):
    first = actions.do_join(person, code_of(held))
    second = actions.do_join(person, code_of(held))
    assert first.key != second.key
    assert actions.do_join(person, code_of(held), first.key).key == first.key
    assert lessons.news_of(held.pk).followers == 2


def test_a_screen_with_the_notes_counts_with_nobody(held, person, stranger):
    actions.do_join(person, code_of(held), notes=True)
    actions.do_join(stranger, code_of(held))
    news = lessons.news_of(held.pk)
    assert (news.followers, [one.number for one in news.people]) == (1, [2])


def test_a_follower_may_say_a_name_and_need_not(held, person, stranger):
    mine = actions.do_join(person, code_of(held), name="  Ada\n Lovelace ")
    actions.do_join(stranger, code_of(held))
    actions.do_join(person, code_of(held), mine.key)
    names = [one.name for one in lessons.news_of(held.pk).people]
    assert names == ["Ada Lovelace", ""]
    actions.do_join(stranger, code_of(held), name="B" * 99)
    assert lessons.news_of(held.pk).people[1].name == "B" * 40
    actions.do_join(stranger, code_of(held), name="")
    assert lessons.news_of(held.pk).people[1].name == ""


def test_news_of_a_class_take_three_queries(
    held, stranger, person, django_assert_num_queries
):
    for number, user in enumerate((stranger, person)):
        follower = actions.do_join(user, code_of(held))
        actions.do_guess(user, held.pk, follower.key, stop=0, choice=number)
    with django_assert_num_queries(3):
        tallies = lessons.news_of(held.pk).tallies
    assert [(t.stop, t.choice, t.count) for t in tallies] == [(0, 0, 1), (0, 1, 1)]


def test_a_browser_that_came_by_the_code_may_turn_to_the_notes(held, stranger):
    actions.do_join(stranger, code_of(held))
    actions.do_join(stranger, code_of(held), notes=True)
    assert lessons.news_of(held.pk).followers == 0


def test_the_presenter_sees_who_answered_which_stop(held, person, stranger):
    first = actions.do_join(person, code_of(held))
    second = actions.do_join(stranger, code_of(held))
    actions.do_guess(stranger, held.pk, second.key, stop=1, choice=0)
    people = lessons.news_of(held.pk).people
    assert [(one.number, one.answered) for one in people] == [(1, []), (2, [1])]
    assert [lessons.number_of(one) for one in (first, second)] == [1, 2]


def test_once_the_answer_is_shown_no_guess_is_taken(held, person, stranger):
    follower = actions.do_join(stranger, code_of(held))
    actions.do_update_lesson(person, held.pk, view="lessons", query="", revealed=[0])
    with pytest.raises(ConflictError, match="shown already"):
        actions.do_guess(stranger, held.pk, follower.key, stop=0, choice=0)


def test_a_guess_names_a_stop_and_a_choice_that_are_there(held, stranger):
    follower = actions.do_join(stranger, code_of(held))
    with pytest.raises(InvalidError, match="got 99"):
        actions.do_guess(stranger, held.pk, follower.key, stop=0, choice=99)
    with pytest.raises(NotFoundError, match="no stop 99"):
        actions.do_guess(stranger, held.pk, follower.key, stop=99, choice=0)


def test_only_the_owner_shows(held, stranger):
    actions.do_join(stranger, code_of(held))
    with pytest.raises(ForbiddenError):
        actions.do_update_lesson(stranger, held.pk, view="board", query="", revealed=[])
    with pytest.raises(ForbiddenError):
        actions.do_end_lesson(stranger, held.pk)


def test_news_grow_in_version_with_every_change(held, person):
    before = lessons.news_of(held.pk).version
    actions.do_update_lesson(person, held.pk, view="board", query="tick=3", revealed=[])
    after = lessons.news_of(held.pk)
    assert after.version > before
    assert (after.view, after.query) == ("board", "tick=3")


def test_followers_do_not_read_the_code(held, stranger):
    actions.do_join(stranger, code_of(held))
    client = APIClient()
    client.force_authenticate(stranger)
    with with_settings(SERVER=True):
        answer = client.get(f"/api/v1/sandboxes/{held.pk}/lesson").json()
    assert answer["running"]
    assert answer["code"] is None
    assert code_of(held) not in json.dumps(answer)


def test_codes_cannot_be_tried_without_end(stranger, settings):
    settings.LIMITS = {**settings.LIMITS, "requests_per_minute_joins": 2}
    settings.CACHES = {
        **settings.CACHES,
        "default": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "LOCATION": "joins",
        },
    }
    client = APIClient()
    client.force_authenticate(stranger)
    tries = [
        client.post("/api/v1/lessons/join", {"code": f"AAAAA{n}"}, format="json")
        for n in (2, 3, 4)
    ]
    assert [answer.status_code for answer in tries] == [404, 404, 429]


def test_a_class_that_shares_an_address_comes_in(held, stranger, settings):
    settings.LIMITS = {**settings.LIMITS, "requests_per_minute_joins": 2}
    client = APIClient()
    client.force_authenticate(stranger)
    body = {"code": code_of(held)}
    joined = [
        client.post("/api/v1/lessons/join", body, format="json") for _ in range(5)
    ]
    assert [answer.status_code for answer in joined] == [200] * 5
