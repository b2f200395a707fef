"""A real cluster as a sandbox, by the command, by REST and by its Kubernetes-shaped API."""

from __future__ import annotations

import base64

import pytest
import yaml

from sandbox import actions
from sandbox.models import Sandbox
from tests.api.test_command import _one_connection, said  # noqa: F401 - fixtures
from tests.sandbox.conftest import job, tick
from tests.sandbox.twins.conftest import played  # noqa: F401 - fixture

pytestmark = [pytest.mark.django_db]
_REFUSED = "shows a real cluster and cannot be edited; fork it and edit the fork"


@pytest.fixture
def twin(client, played):  # noqa: F811 - the fixture
    data = base64.b64encode(played.file()).decode()
    body = {"title": "Prod", "files": [{"name": "prod.qrec", "data": data}]}
    made = client.post("/api/v1/twins", body, format="json")
    assert made.status_code == 201, made.json()
    return Sandbox.objects.get(pk=made.json()["id"])


def test_the_command_plays_a_recording_to_its_end(person, said, played, tmp_path):  # noqa: F811
    path = tmp_path / "prod.qrec"
    path.write_bytes(played.file())
    _, made = said("twin", str(path))
    assert (made["source"], made["tick"]) == ("recording", made["lastTick"])
    _, fork = said("fork", made["id"], "--tick", "5")
    assert Sandbox.objects.get(pk=fork["id"]).source == {}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("post", "/actions/import", {"files": [{"text": "kind: x"}]}),
        ("patch", "/policy", {"spec": {}}),
        ("post", "/apis/batch/v1/namespaces/default/jobs", job("x")),
        ("delete", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/a?dryRun=All", None),
    ],
)
def test_every_way_to_edit_it_is_refused(call, twin, method, path, body):
    answer = call(method, twin, path, body)
    assert answer.status_code == 403
    assert answer.json()["message"].endswith(_REFUSED)


def test_what_is_no_recording_is_a_422(client):
    body = {"files": [{"name": "a.qrec", "text": "hello"}]}
    assert client.post("/api/v1/twins", body, format="json").status_code == 422


def test_its_decisions_are_held_against_the_engines(person, said, played, tmp_path):  # noqa: F811
    path = tmp_path / "prod.qrec"
    path.write_bytes(played.file())
    key = said("twin", str(path))[1]["id"]
    found = said("shadow", key)[1]
    assert found["judged"] == found["decisions"] > 0
    assert found["agree"] + len(found["disagreements"]) == found["judged"]
    assert {one["kind"] for one in found["kinds"]} == {"admission", "preemption"}
    assert found["agree"] / found["judged"] > 0.9, found["disagreements"]
    assert sum(one["judged"] for one in found["times"]) == found["judged"]


def test_a_decision_opens_as_what_was_seen_and_what_the_engine_decides(call, twin):
    actions.do_play(twin.owner, twin.pk)
    tick(twin, 20)
    refused = call("get", twin, "/shadow/999999")
    assert refused.status_code == 404
    event = next(
        n for n in range(99) if call("get", twin, f"/shadow/{n}").status_code == 200
    )
    found = call("get", twin, f"/shadow/{event}").json()
    decision = found["decision"]
    assert decision["real"][-1]["kind"] == "admit"
    assert decision["engine"]
    assert decision["smallest"]["after"] <= decision["smallest"]["before"]
    assert found["policy"]["simulation"]["startTime"].startswith("2027-01-15T08:00:")


def test_a_window_is_replayed_with_another_policy_and_said_in_a_sentence(
    person,
    said,  # noqa: F811
    played,  # noqa: F811
    tmp_path,
):
    path, policy = tmp_path / "prod.qrec", tmp_path / "policy.yaml"
    path.write_bytes(played.file())
    key = said("twin", str(path))[1]["id"]
    queue = {"kind": "ClusterQueue", "metadata": {"name": "a"}}
    spec = {
        "preemption": {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"}
    }
    policy.write_text(yaml.safe_dump({**queue, "spec": spec}))
    words = ("incident", key, "--from", "1", "--to", "30", "--policy", str(policy))
    _, found = said(*words)
    assert found["real"]["preemptions"] > 0
    assert found["startErrorMs"][0] <= 1000
    assert found["changed"]["preemptions"] < found["same"]["preemptions"]
    assert "fewer" in found["sentence"]
    work = [
        sum(q["workloads"] for q in found[one]["queues"]) for one in ("real", "same")
    ]
    assert work[0] == work[1] > 0


def test_what_is_no_window_or_no_twin_is_refused(call, twin, make):
    patch = {"kind": "Policy", "name": "policy", "patch": {"spec": {}}}
    body = {"fromTick": 5, "toTick": 5, "edits": [patch]}
    assert call("post", twin, "/incident", body).status_code == 422
    assert call("post", make(), "/incident", {**body, "toTick": 6}).status_code == 409
