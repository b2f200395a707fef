"""Commands of the service end as every other, and make tokens."""

from __future__ import annotations

import sys

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError

from sandbox.base.commands import run_command
from sandbox.models import Token
from sandbox.models.access import hash_of

pytestmark = [pytest.mark.django_db]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["tidy", "--help"], 0),
        (["restore", "nowhere"], 2),
        (["restore"], 2),
    ],
)
def test_a_command_of_the_service_ends_as_every_other_does(person, words, status):
    assert run_command(["manage.py", *words]) == status


def test_a_fault_of_a_command_of_the_service_ends_with_3(monkeypatch, capsys):
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    monkeypatch.setattr(sys, "stdout", None)
    assert run_command(["manage.py", "tidy"]) == 3
    assert "Please report it" in capsys.readouterr().err


def test_a_token_is_made_for_a_script_and_its_secret_said_once(person, capsys):
    call_command("token", person.username, scope="read", days=30)
    captured = capsys.readouterr()
    found = Token.objects.get(user=person)
    assert found.hash == hash_of(captured.out.strip())
    assert found.scope == "read"
    assert (found.expires_at - found.created_at).days in (29, 30)
    assert captured.out.strip() not in captured.err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nobody"], "nobody is called nobody"),
        (["local", "--days", "0"], "expected 1 to 3650"),
        (["stopped"], "may not sign in"),
    ],
)
def test_a_token_of_nobody_or_of_no_day_is_refused(person, words, problem):
    User.objects.create(username="stopped", is_active=False)
    with pytest.raises(CommandError, match=problem):
        call_command("token", *words)
    assert not Token.objects.exists()
