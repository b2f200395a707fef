"""What is large for a web process is answered by a worker, as the web process would."""

from __future__ import annotations

import json

import pytest
import yaml

from sandbox.answers.work import WORK, work_of
from sandbox.models import Question, Sandbox
from tests.api.hostile.test_bent_files import paths_of
from tests.builders import flavor, job
from tests.sandbox.conftest import tick

pytestmark = pytest.mark.django_db
#: Paths that ask workers themselves, and one with numbers of the moment.
APART = ("metrics", "forecast", "counterfactuals", "reproduction", "shadow", "compare")


@pytest.fixture
def by_workers(settings):
    """Leave to workers what is theirs; who asks does not wait."""
    settings.ANSWER_INLINE, settings.ANSWER_WAIT_S = False, 0


def answered(client, answer):
    """Let a worker answer; return that, or the answer where none is needed."""
    if answer.status_code not in (202, 504):
        return answer
    WORK.work(60.0)
    number = Question.objects.latest("pk").pk if answer.status_code == 504 else 0
    found = client.get(
        f"/api/v1/answers/{number}" if number else answer.json()["place"]
    )
    Question.objects.all().delete()
    return found


def test_a_worker_answers_each_path_of_a_large_world_as_the_web_process_does(
    client, busy, settings
):
    tick(busy, 6)
    base = f"/api/v1/sandboxes/{busy.pk}"
    shown = client.get(f"{base}/state").json()
    paths = paths_of(shown["rows"], shown["events"])
    paths = [base + one for one in paths if not any(word in one for word in APART)]
    ours = {path: client.get(path) for path in paths}
    settings.ANSWER_INLINE, settings.ANSWER_WAIT_S = False, 0
    settings.OBJECTS_PER_REQUEST = 0
    asked = 0
    for path, one in ours.items():
        first = client.get(path)
        asked += first.status_code in (202, 504)
        found = answered(client, first)
        assert found.status_code == one.status_code, path
        assert found.headers["Content-Type"] == one.headers["Content-Type"], path
        if "archive" not in path:  # it says when it was written
            assert found.content == one.content, path
    assert asked > 20


@pytest.mark.parametrize(
    "body",
    [
        {"objects": [job("many", queue="a-queue", parallelism=501)]},
        {
            "objects": [
                {
                    **flavor("large"),
                    "metadata": {"name": "l", "annotations": {"a": "x" * 70_000}},
                }
            ]
        },
        {"files": [{"name": "a.yaml", "text": yaml.safe_dump(flavor("small"))}]},
        {
            "skipErrors": True,
            "files": [
                {"name": "a.yaml", "text": yaml.safe_dump(flavor("small"))},
                {"name": "b.yaml.gz", "data": "H4sIAAAAAAAA"},
            ],
        },
    ],
    ids=["pods", "bytes", "a file", "a file beside one that cannot be read"],
)
def test_an_import_that_may_cost_much_is_a_workers(client, busy, by_workers, body):
    first = client.post(
        f"/api/v1/sandboxes/{busy.pk}/actions/import", body, format="json"
    )
    assert first.status_code == 202
    assert answered(client, first).json()["created"]


def test_an_object_is_taken_by_the_web_process_itself(client, busy, by_workers):
    body = {"objects": [flavor("small")]}
    path = f"/api/v1/sandboxes/{busy.pk}/actions/import"
    assert client.post(path, body, format="json").json()["created"]
    assert not Question.objects.exists()


def test_what_a_lost_worker_had_done_is_not_done_again(
    client, busy, by_workers, settings
):
    settings.OBJECTS_PER_REQUEST = 0
    client.post(f"/api/v1/sandboxes/{busy.pk}/actions/fork", {}, format="json")
    asked = Question.objects.get()
    answers = [work_of(asked.kind, print)(**asked.arguments) for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0]["status"] == 201
    assert Sandbox.objects.filter(parent=busy).count() == 1


def test_an_answer_is_there_for_whoever_asked_alone(
    client, busy, by_workers, settings, stranger
):
    settings.OBJECTS_PER_REQUEST = 0
    secret = {"HTTP_AUTHORIZATION": "Bearer ql_nothing", "HTTP_COOKIE": "sessionid=x"}
    path = f"/api/v1/sandboxes/{busy.pk}/fairness"
    client.get(path, headers={"X-Mine": "y"})
    asked = Question.objects.get()
    assert not secret.keys() & asked.arguments["head"].keys()
    Sandbox.objects.filter(pk=busy.pk).update(visibility="public")
    Question.objects.update(asked_by=stranger)
    assert client.get(f"/api/v1/answers/{asked.pk}").status_code == 404


def test_kubectl_is_told_of_a_time_out_and_gets_no_place_to_ask_again(
    call, busy, by_workers, settings
):
    settings.OBJECTS_PER_REQUEST = 0
    answer = call("get", busy, "/apis/batch/v1/namespaces/default/jobs")
    assert (answer.status_code, answer.json()["reason"]) == (504, "Timeout")
    assert json.loads(answer.content)["kind"] == "Status"
