"""`quotalab advise`: searched here without a database, or by a server's workers."""

from __future__ import annotations

import json

import msgspec
import pytest
import yaml

from api.command import main
from api.command.advising import main as advise
from api.command.local import InProcess
from sandbox.experiments.work import WORK
from tests.api.test_advising import TEAMS, body_of
from tests.api.test_command import _one_connection  # noqa: F401 - a fixture
from tests.scheduler.advice.worlds import manifests_of


@pytest.fixture
def goal(tmp_path):
    """Return the words: a goal, and the world beside it."""
    document = {**body_of()["document"], "apiVersion": "quotalab.dev/v1"}
    path = tmp_path / "goal.yaml"
    path.write_text(yaml.safe_dump({**document, "metadata": {"name": "goal"}}))
    world = tmp_path / "world.yaml"
    world.write_text(yaml.safe_dump_all(manifests_of(TEAMS, "")))
    return path


class Worked:
    """The API of this process; whoever looks at an experiment finds it worked on."""

    def __init__(self) -> None:
        self.send = InProcess()

    def __call__(self, method, path, headers, body):
        if method == "GET" and "/experiments/" in path:
            WORK.work(120.0)
        return self.send(method, path, headers, body)


def test_what_is_searched_here_is_written_as_report_patches_and_undo(goal, capsys):
    names = [goal.parent / name for name in ("set.yaml", "undo.yaml", "report.md")]
    words = ["--patches", names[0], "--undo", names[1], "--markdown", names[2]]
    assert main(["advise", str(goal), *map(str, words)]) == 0
    said = capsys.readouterr()
    assert "7 settings" in said.err
    assert said.out == names[2].read_text()
    edits, before = (list(yaml.safe_load_all(n.read_text())) for n in names[:2])
    assert [one["metadata"]["name"] for one in edits] == ["a", "b"]
    assert edits != before


def test_scenarios_are_known_by_name_and_an_estimate_searches_nothing(
    goal, capsys, tmp_path
):
    document = yaml.safe_load(goal.read_text())
    document["spec"]["base"] = {"scenario": "friday-rush"}
    document["spec"]["search"]["change"][0]["quota"]["flavor"] = "a100"
    document["spec"]["search"]["change"][0]["quota"]["resource"] = "nvidia.com/gpu"
    document["spec"]["search"]["constraints"] = ["jain >= 0.1"]
    goal.write_text(yaml.safe_dump(document))
    assert main(["advise", str(goal), "--estimate"]) == 0
    assert "of CPU" in capsys.readouterr().out
    document["spec"]["base"] = {"scenario": "no-such"}
    goal.write_text(yaml.safe_dump(document))
    assert main(["advise", str(goal)]) == 2


@pytest.mark.django_db(transaction=True)
def test_a_server_answers_the_same(person, goal, capsys):
    assert advise([str(goal), "--json"]) == 0
    here = json.loads(capsys.readouterr().out)
    server = ["--server", "http://quotalab.example", "--json"]
    assert advise([str(goal), *server], Worked()) == 0
    assert json.loads(capsys.readouterr().out) == here
    given = [str(goal), str(goal.parent / "world.yaml"), *server]
    assert advise(given, Worked()) == 0
    assert msgspec.json.decode(capsys.readouterr().out) == here


@pytest.mark.django_db
def test_what_a_server_refuses_is_said(person, goal, capsys):
    goal.write_text(goal.read_text().replace("quota:", "quotas:"))
    assert advise([str(goal), "--server", "http://quotalab.example"], InProcess()) == 2
    assert "quotas" in capsys.readouterr().err
