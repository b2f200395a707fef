"""What came of an import is reported: per file, per kind, each sort of finding once."""

from __future__ import annotations

import pytest
import yaml

from sandbox.models import ImportReport
from tests.builders import cluster_queue, flavor, node, pod

pytestmark = pytest.mark.django_db


def text(*manifests: dict) -> str:
    return "---\n".join(yaml.safe_dump(one) for one in manifests)


def config_map(name: str) -> dict:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}


def sort(report: dict, words: str) -> dict:
    return next(one for one in report["findings"] if words in one["problem"])


def test_a_report_counts_what_each_file_gave(client):
    files = [
        {"name": "a.yaml", "text": text(flavor(), config_map("x"), config_map("y"))},
        {"name": "empty.yaml", "text": "# nothing\n"},
        {"name": "notes.txt", "text": "hello"},
    ]
    body = client.post("/api/v1/sandboxes", {"files": files}, format="json").json()
    first, empty, notes = body["report"]["files"]
    assert (first["simulated"], first["kept"]) == (1, 2)
    assert first["kinds"] == {"ResourceFlavor": 1, "Secret": 2}
    assert not any((empty["simulated"], empty["kept"], notes["simulated"]))
    assert (
        sort(body["report"], "holds no document")["places"][0]["file"] == "empty.yaml"
    )
    assert sort(body["report"], "not read")["places"][0]["file"] == "notes.txt"
    assert sort(body["report"], "not read")["said"]["code"] == "problem.notRead"


def test_equal_findings_are_one_with_a_count_and_what_they_change(client):
    files = [{"name": "a.yaml", "text": text(config_map("x"), config_map("y"))}]
    body = client.post("/api/v1/sandboxes", {"files": files}, format="json").json()
    found = sort(body["report"], "Secret")
    assert (found["count"], found["effect"]) == (2, "no decision depends on it")
    said = found["said"]
    assert (said["code"], said["text"]) == ("kept.kinds", found["problem"])
    assert said["holes"]["note"]["code"] == "kept.noPart"
    assert [place["line"] for place in found["places"]] == [2, 8]
    (kind,) = body["report"]["kinds"]
    assert (kind["kind"], kind["outcome"], kind["count"]) == ("Secret", "kept", 2)


def test_a_slip_and_what_is_not_followed_are_in_the_report(client):
    given = pod("p", cpu=1)
    given["spec"] |= {"nodeSelectr": {"a": "b"}, "dnsPolicy": "Default"}
    files = [{"name": "a.yaml", "text": text(given)}]
    body = client.post("/api/v1/sandboxes", {"files": files}, format="json").json()
    found = sort(body["report"], "did you mean nodeSelector?")
    assert found["said"]["holes"]["what"]["code"] == "unknown.fieldNear"
    assert (found["level"], found["places"][0]["field"]) == (
        "warning", "spec.nodeSelectr"
    )  # fmt: skip
    (kind,) = body["report"]["kinds"]
    assert {"dnsPolicy": 1}.items() <= {
        one["field"]: one["count"] for one in kind["unread"]
    }.items()


def test_a_new_sandbox_is_made_of_what_can_be_taken(client):
    bad = cluster_queue("q", cpu="four")
    files = [{"name": "a.yaml", "text": text(flavor(), bad)}]
    body = {"files": files, "skipErrors": True}
    answer = client.post("/api/v1/sandboxes", body, format="json")
    assert answer.status_code == 201
    report = answer.json()["report"]
    assert (report["files"][0]["simulated"], report["files"][0]["refused"]) == (1, 1)
    assert sort(report, "four")["effect"] == "it is not taken; nothing of it counts"


def test_a_cluster_that_is_read_into_a_sandbox_is_told_whose_time_counts(call, make):
    ready = {"type": "Ready", "status": "True", "reason": "r"}
    ready["lastTransitionTime"] = "2026-03-01T10:00:00Z"
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Running", "conditions": [ready]},
    }
    body = {"objects": [pod, node("n")]}
    report = call("post", make(), "/actions/import", body).json()["report"]
    assert "read at 2026-03-01T10:00:00Z" in sort(report, "that is kept")["problem"]


def test_a_report_that_was_kept_before_it_had_a_part_is_read(client):
    files = [{"name": "a.yaml", "text": text(flavor())}]
    made = client.post("/api/v1/sandboxes", {"files": files}, format="json").json()
    for kept in ImportReport.objects.all():
        for kind in kept.report["kinds"]:
            del kind["unread"]
        kept.save()
    found = client.get(f"/api/v1/sandboxes/{made['id']}/imports").json()["items"]
    assert found[0]["report"]["kinds"][0]["unread"] == []


def test_what_stands_beside_an_error_has_its_code(client):
    bad = cluster_queue("q", cpu="four")
    files = [{"name": "a.yaml", "text": text(config_map("x"), bad)}]
    answer = client.post("/api/v1/sandboxes", {"files": files}, format="json")
    assert answer.status_code == 422
    causes = answer.json()["details"]["causes"]
    codes = {one["level"]: one.get("said", {}).get("code") for one in causes}
    assert codes == {"error": "form.got", "unsupported": "kept.kind"}
