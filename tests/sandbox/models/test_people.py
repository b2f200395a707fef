"""People: whom the operator lets in, and how they are let out again."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from sandbox.models import Audit

pytestmark = [pytest.mark.django_db]
GOOD = "a long pass phrase"


@pytest.fixture
def person(monkeypatch):
    """Return a function that runs the command with a line on its input."""

    def run(*words: str, password: str = GOOD) -> str:
        out = io.StringIO()
        monkeypatch.setattr("sys.stdin", io.StringIO(password + "\n"))
        call_command("person", *words, stdout=out)
        return out.getvalue()

    return run


def signs_in(name: str, password: str = GOOD) -> bool:
    form = {"username": name, "password": password}
    return Client().post("/sign-in", form).status_code == 302


@pytest.fixture(autouse=True)
def _server(settings):
    settings.SERVER = True
    settings.LIMITS = {**settings.LIMITS, "sign_ins_per_minute": 0}


def test_who_was_added_signs_in(person):
    assert person("add", "ada", "--staff") == "ada may sign in\n"
    assert signs_in("ada")
    assert User.objects.get(username="ada").is_staff
    assert "ada\tseen" in person("list")


def test_another_password_ends_the_old_one(person):
    person("add", "ada")
    person("password", "ada", password="another long phrase")
    assert (signs_in("ada"), signs_in("ada", "another long phrase")) == (False, True)


def test_who_was_stopped_is_out_until_started(person):
    person("add", "ada")
    inside = Client()
    inside.post("/sign-in", {"username": "ada", "password": GOOD})
    assert person("stop", "ada") == "ada may not sign in\n"
    assert inside.get("/api/v1/me").status_code == 401
    assert not signs_in("ada")
    person("start", "ada")
    assert signs_in("ada")
    actions = list(Audit.objects.values_list("action", flat=True))
    assert [name for name in actions if name != "sign-in"] == ["start", "stop", "added"]


@pytest.mark.parametrize(
    ("words", "password", "problem"),
    [
        (("add", "ada"), "12345678", "too common"),
        (("add", "a b"), GOOD, "valid username"),
        (("stop", "nobody"), GOOD, "nobody is called nobody"),
    ],
)
def test_it_says_what_is_wrong_and_changes_nothing(person, words, password, problem):
    with pytest.raises(CommandError, match=problem):
        person(*words, password=password)
    assert not User.objects.filter(is_active=True).exists()
