"""A run that other machines reach: what a stranger, a guest and the owner may there."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from sandbox import actions
from sandbox.access import people, rights
from sandbox.access.people import owner_link
from sandbox.actions.lessons import MOST_FOLLOWERS
from sandbox.base.errors import ForbiddenError, InvalidError
from sandbox.experiments.actions import do_start
from sandbox.models import Follower, Lesson, Member, Sandbox
from sandbox.models.sandbox import GUEST
from tests.api.access.test_permissions import BELOW, CASES
from tests.api.hostile.test_limits import an_experiment

pytestmark = [pytest.mark.django_db]
HOST = "127.0.0.2"
#: What a guest may do besides reading.
GUESTS = ("lessons/join", "lesson/followers/<str:follower>")


@pytest.fixture(autouse=True)
def _lan(settings):
    settings.LAN = "127.0.0.2"
    settings.ALLOWED_HOSTS = ["127.0.0.2"]
    settings.LIMITS = {**settings.LIMITS, "requests_per_minute_joins": 5}
    settings.CACHES = {
        **settings.CACHES,
        "default": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "LOCATION": "lan",
        },
    }
    cache.clear()


@pytest.fixture
def held(_nothing_in_memory) -> Sandbox:
    """A sandbox of the owner's, in which a lesson is held."""
    made = actions.do_create(people.local_user(), scenario="friday-rush").sandbox
    actions.do_start_lesson(people.local_user(), made.pk)
    return made


def public_one() -> Sandbox:
    """Another sandbox of the owner's, which everybody with an account may look at."""
    other = actions.do_create(people.local_user(), title="mine").sandbox
    Sandbox.objects.filter(pk=other.pk).update(visibility=Sandbox.PUBLIC)
    return other


def browser() -> Client:
    return Client(SERVER_NAME="127.0.0.2")


def code_of(sandbox: Sandbox) -> str:
    return Lesson.objects.get(sandbox=sandbox).code


def joined(sandbox: Sandbox) -> Client:
    client = browser()
    answer = client.post("/sign-in", {"code": code_of(sandbox).lower()})
    assert answer.headers["Location"] == f"/join?code={code_of(sandbox)}&now=yes"
    return client


def asker_of(client: Client) -> people.Asker:
    return people.Asker(session=client.session.session_key or "")


def send(client: Client, method: str, path: str, body: object) -> int:
    words = {"data": json.dumps(body), "content_type": "application/json"}
    return getattr(client, method)(path, **words).status_code


def test_a_stranger_sees_nothing_of_a_sandbox(held):
    stranger = browser()
    for path in ("/", f"/s/{held.pk}/board", "/scenarios"):
        assert stranger.get(path).headers["Location"].startswith("/sign-in?")
    for path in ("me", "sandboxes", f"sandboxes/{held.pk}/state", "scenarios"):
        assert stranger.get(f"/api/v1/{path}").status_code == 401, path
    assert not rights.who_sees(people.Asker(), [held.pk])


def test_other_names_of_this_machine_open_nothing(held):
    for host in ("127.0.0.1", "localhost", "evil.example"):
        assert browser().get("/sign-in", HTTP_HOST=host).status_code == 400


def test_a_guest_looks_on_and_guesses(held):
    client = joined(held)
    assert client.get(f"/api/v1/sandboxes/{held.pk}/state").status_code == 200
    assert client.get("/api/v1/me").json()["guest"]
    key = Follower.objects.get().key
    path = f"/api/v1/sandboxes/{held.pk}/lesson/followers/{key}"
    assert send(client, "put", path, {"stop": 0, "choice": 1}) == 204
    assert rights.who_sees(asker_of(client), [held.pk])


def test_a_guest_joins_and_guesses_and_uses_no_other_route_that_changes(held):
    client, hash_, wrong = joined(held), held.hash, []
    for case in CASES:
        if case.method in ("get", "any") or case.power == "open":
            continue
        code = case.send(client, held.pk).status_code
        fits = (code in (404, 422)) if case.route.endswith(GUESTS) else code == 403
        wrong += [] if fits else [f"{case.method} {case.route}: {code}"]
    assert wrong == []
    present = Sandbox.objects.get()
    assert (present.hash, present.revision) == (hash_, held.revision)


def test_a_guest_reads_no_route_of_another_sandbox(held):
    other = public_one()
    client = joined(held)
    reads = [case for case in BELOW if case.method == "get"]
    codes = {case.tail: case.send(client, other.pk).status_code for case in reads}
    assert {tail: code for tail, code in codes.items() if code != 404} == {}
    assert not rights.who_sees(asker_of(client), [other.pk])


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("sandboxes/{held}/export", 200),
        ("sandboxes/{held}/archive", 403),
        ("sandboxes/{held}/members", 403),
        ("sandboxes/{held}/shares", 403),
        ("sandboxes/{held}/audit", 403),
        ("sandboxes/{held}/compare?with={other}", 404),
        ("experiments/{experiment}", 404),
        ("experiments/{experiment}/results", 404),
        ("experiments/{experiment}/results.csv", 404),
        ("experiments/{experiment}/compare", 404),
    ],
)
def test_what_a_guest_reads_beside_the_lesson(held, path, code):
    other, owner = public_one(), people.local_user()
    actions.do_set_visibility(owner, held.pk, Sandbox.PUBLIC)
    made = do_start(owner, an_experiment(1, "1m"), visibility=Sandbox.PUBLIC)
    path = path.format(held=held.pk, other=other.pk, experiment=made.pk)
    assert joined(held).get(f"/api/v1/{path}").status_code == code


def test_a_guest_is_signed_in_for_no_longer_than_a_lesson_lasts(held):
    age = joined(held).session.get_expiry_age()
    assert age == actions.lessons.LONGEST.total_seconds()


def test_a_guest_edits_nothing_even_as_a_member(held):
    joined(held)
    guest = User.objects.get(username__startswith=GUEST)
    Member.objects.create(sandbox=held, user=guest, role=Member.EDITOR)
    assert not Sandbox.objects.editable_by(guest).exists()


def test_lists_name_to_a_guest_what_is_of_the_lesson_alone(held):
    other, owner = public_one(), people.local_user()
    do_start(owner, an_experiment(1, "1m"), visibility=Sandbox.PUBLIC)
    actions.do_token(owner, name="t", scope="read", expires_at=None)
    client = joined(held)
    for path in ("experiments", "tokens"):
        assert client.get(f"/api/v1/{path}").json()["items"] == [], path
    for path in ("/api/v1/disk", "/metrics"):
        assert other.pk not in client.get(path).content.decode(), path


def test_a_guest_is_shown_no_other_sandbox_not_even_a_public_one(held):
    public_one()
    client = joined(held)
    listed = client.get("/api/v1/sandboxes").json()["items"]
    assert [one["id"] for one in listed] == [held.pk]


def test_the_end_of_the_lesson_ends_its_guests(held):
    client = joined(held)
    asker = asker_of(client)
    actions.do_end_lesson(people.local_user(), held.pk)
    assert not rights.who_sees(asker, [held.pk])
    assert client.get("/api/v1/me").status_code == 401
    assert not User.objects.filter(username__startswith=GUEST).exists()


def test_a_lesson_that_ran_out_loses_its_guests_too(held):
    joined(held)
    Lesson.objects.update(expires_at="2000-01-01T00:00:00Z")
    assert actions.do_end_guests() == 1


def test_codes_are_tried_a_few_times_a_minute(held):
    stranger = browser()
    tries = [stranger.post("/sign-in", {"code": f"AAAAA{n}"}) for n in range(6)]
    assert [answer.status_code for answer in tries] == [401] * 5 + [429]
    assert stranger.post("/sign-in", {"code": code_of(held)}).status_code == 429
    assert not User.objects.filter(username__startswith=GUEST).exists()


def test_a_class_behind_one_address_comes_in(held):
    for _ in range(8):
        joined(held)
    assert Follower.objects.count() == 8


def test_one_address_makes_so_many_guests_a_minute_and_the_owner_still_comes_in(
    held, settings
):
    settings.LIMITS = {**settings.LIMITS, "guests_per_minute": 2}
    asked = {"code": code_of(held), "once": ""}
    tries = [browser().post("/sign-in", asked) for _ in range(3)]
    assert [answer.status_code for answer in tries] == [302, 302, 429]
    assert (Follower.objects.count(), tries[-1]["Retry-After"]) == (2, "60")
    key = owner_link.open("", lambda _: None).partition("once=")[2]
    assert browser().post("/sign-in", {"once": key}).status_code == 302


def test_the_way_to_the_notes_leads_through_the_code(held):
    phone = browser()
    link = f"/join?code={code_of(held)}&notes=1"
    asked = phone.get(link).headers["Location"]
    html = phone.get(asked).content.decode()
    assert 'name="notes" value="1"' in html
    answer = phone.post("/sign-in", {"code": code_of(held), "notes": "1"})
    assert answer.headers["Location"].endswith("&now=yes&notes=1")


def test_a_form_of_another_page_joins_nothing(held):
    client = Client(SERVER_NAME="127.0.0.2", enforce_csrf_checks=True)
    asked = {"code": code_of(held)}
    assert client.post("/sign-in", asked).status_code == 403
    foreign = {"Origin": "http://evil.example"}
    assert browser().post("/sign-in", asked, headers=foreign).status_code == 403


def test_the_owners_link_is_good_once_and_for_one(held):
    printed: list[str] = []
    link = owner_link.open(f"http://{HOST}", printed.append)
    path = link.removeprefix(f"http://{HOST}")
    key = path.partition("once=")[2]
    owner = browser()
    assert key in owner.get(path).content.decode()
    assert owner.get("/api/v1/me").status_code == 401  # a look does not use it up
    owner.post("/sign-in", {"once": key})
    me = owner.get("/api/v1/me").json()
    assert (me["user"], me["guest"], me["reachedAt"]) == (
        "local",
        False,
        f"http://{HOST}",
    )
    assert browser().post("/sign-in", {"once": key}).status_code == 401
    assert len(printed) == 2
    assert owner.get(f"/api/v1/sandboxes/{held.pk}").json()["role"] == "owner"


def test_who_signs_out_is_a_stranger_again():
    key = owner_link.open("", lambda _: None).partition("once=")[2]
    owner = browser()
    owner.post("/sign-in", {"once": key})
    owner.post("/sign-out")
    assert owner.get("/api/v1/me").status_code == 401


def test_a_full_lesson_takes_no_guest_and_makes_none(held, monkeypatch):
    monkeypatch.setattr(actions.lessons, "MOST_FOLLOWERS", 0)
    assert MOST_FOLLOWERS > 0
    answer = browser().post("/sign-in", {"code": code_of(held)})
    assert answer.status_code == 403
    assert not User.objects.filter(username__startswith=GUEST).exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [("zh-CN", "加入课程"), ("zh-TW", "加入課程"), ("de", "Join the lesson")],
)
def test_the_form_speaks_the_language_of_the_browser(asked, said):
    page = browser().get(
        "/sign-in?next=/join%3Fcode%3DABC234", headers={"Accept-Language": asked}
    )
    html = page.content.decode()
    assert said in html
    assert re.search(r'name="code" value="ABC234"', html)


def test_an_address_that_is_none_leaves_the_field_of_the_code_empty():
    page = browser().get("/sign-in?next=http://[")
    assert page.status_code == 200
    assert re.search(r'name="code" value=""', page.content.decode())


def test_no_member_is_a_guest(held):
    joined(held)
    guest = User.objects.get(username__startswith=GUEST)
    with pytest.raises(InvalidError, match="expected the name of somebody else"):
        actions.do_member(people.local_user(), held.pk, guest.username, "editor")
    with pytest.raises(ForbiddenError, match="has no sandboxes"):
        actions.do_create(guest, title="mine")
