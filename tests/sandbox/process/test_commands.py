"""The command line does what the page does, and says so in JSON."""

from __future__ import annotations

import io
import json
import sys

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError

from sandbox.base.commands import run_command
from sandbox.models import Sandbox, Token
from sandbox.models.access import hash_of
from tests.builders import cluster_queue, flavor
from tests.sandbox.conftest import contended, text_of

pytestmark = [pytest.mark.django_db]


def said(*words: str, **options: object) -> dict:
    out = io.StringIO()
    call_command(*words, json=True, stdout=out, **options)
    return json.loads(out.getvalue())


@pytest.fixture
def world(tmp_path):
    path = tmp_path / "world.yaml"
    path.write_text(text_of(*contended()))
    return str(path)


def test_what_is_imported_runs_and_is_exported(person, world, tmp_path):
    made = said("import", world, seed=1)
    ran = said("run", made["id"], ticks=5)
    assert ran["tick"] == 5
    file = tmp_path / "out.yaml"
    call_command("export", made["id"], output=str(file))
    again = said("import", str(file), seed=1)
    assert Sandbox.objects.get(pk=again["id"]).stack == "kueue"


def test_bad_files_fail_with_their_place(person, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(text_of(cluster_queue("q", cpu="four")))
    with pytest.raises(CommandError, match=r"bad\.yaml:\d+"):
        call_command("import", str(path))
    assert not Sandbox.objects.exists()


def test_an_import_goes_into_a_sandbox_that_is_named(make, tmp_path):
    sandbox = make(flavor())
    path = tmp_path / "q.yaml"
    path.write_text(text_of(cluster_queue("q")))
    answer = said("import", str(path), into=sandbox.pk)
    assert answer["created"] == ["ClusterQueue//q"]


def test_a_file_that_is_ignored_because_of_its_name_is_reported(
    person, tmp_path, capsys
):
    (tmp_path / "q.yaml").write_text(text_of(flavor(), cluster_queue("q")))
    (tmp_path / "q.yaml.bak").write_text("kind: ClusterQueue")
    said("import", str(tmp_path))
    assert f"{tmp_path / 'q.yaml.bak'}: ignored" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["tidy", "--help"], 0),
        (["import", "nowhere.yaml"], 2),
        (["export"], 2),
    ],
)
def test_a_command_of_the_service_ends_as_every_other_does(person, words, status):
    assert run_command(["manage.py", *words]) == status


def test_a_fault_of_a_command_of_the_service_ends_with_3(monkeypatch, capsys):
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    monkeypatch.setattr(sys, "stdout", None)
    assert run_command(["manage.py", "export", "1"]) == 3
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
