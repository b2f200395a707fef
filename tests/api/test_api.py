"""The REST API does all that the page does, and refuses in Kubernetes' words."""

from __future__ import annotations

import csv
import io
import json

import pytest
import yaml
from django.db.models.functions import Now
from django.test import override_settings
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient, APIRequestFactory, force_authenticate

from api.idempotency import FREE_AFTER, once
from api.views.base import View
from sandbox import actions
from sandbox.base.errors import BusyError
from sandbox.models import Answer, Sandbox, Workload
from tests.builders import cluster_queue, flavor
from tests.sandbox.conftest import contended, row, text_of, tick

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_a_sandbox_is_made_of_files_played_and_read(client):
    files = [{"name": "world.yaml", "text": text_of(*contended())}]
    made = client.post("/api/v1/sandboxes", {"title": "Mine", "files": files})
    assert (made.status_code, made.json()["tick"]) == (201, 0)
    path = f"/api/v1/sandboxes/{made.json()['id']}"
    assert client.post(f"{path}/actions/play", {"speed": 4}).status_code == 200
    sandbox = Sandbox.objects.get(pk=made.json()["id"])
    tick(sandbox, 6)
    body = client.get(path).json()
    assert (body["tick"], body["playing"], body["speed"]) == (6, True, 4.0)
    assert client.get("/api/v1/sandboxes").json()["items"][0]["title"] == "Mine"


def test_a_yaml_body_makes_a_sandbox_too(client):
    made = client.post(
        "/api/v1/sandboxes", text_of(flavor()), content_type="application/yaml"
    )
    assert made.status_code == 201


def test_bad_files_are_a_status_with_every_cause(client):
    files = [
        {"name": "a.yaml", "text": text_of(cluster_queue("q", cpu="four"))},
        {"name": "b.yaml", "text": "kind: [1"},
    ]
    answer = client.post("/api/v1/sandboxes", {"files": files})
    assert answer.status_code == 422
    body = answer.json()
    assert (body["kind"], body["reason"], body["code"]) == ("Status", "Invalid", 422)
    causes = body["details"]["causes"]
    assert {cause["file"] for cause in causes} == {"a.yaml", "b.yaml"}
    assert all(cause["line"] > 0 and cause["message"] for cause in causes)
    assert not Sandbox.objects.exists()


def test_an_import_lists_what_it_made_and_found(call, make):
    sandbox = make(flavor())
    queue = cluster_queue("q", flavor="missing")
    answer = call("post", sandbox, "/actions/import", {"objects": [queue, flavor()]})
    body = answer.json()
    assert body["created"] == ["ClusterQueue//q"]
    assert body["unchanged"] == ["ResourceFlavor//default"]
    assert body["findings"][0]["level"] == "warning"


def test_an_object_is_read_changed_and_deleted(call, busy, client):
    path = "/objects/ClusterQueue/-/a"
    answer = call("get", busy, path)
    assert answer.json()["spec"]["cohortName"] == "team"
    old = answer.headers["ETag"]
    patch = {"spec": {"stopPolicy": "Hold"}}
    assert call("patch", busy, path, patch, **{"If-Match": old}).status_code == 200
    stale = call("patch", busy, path, patch, **{"If-Match": old})
    assert (stale.status_code, stale.json()["reason"]) == (412, "PreconditionFailed")
    assert call("delete", busy, path).status_code == 200
    gone = call("get", busy, path)
    assert (gone.status_code, gone.json()["reason"]) == (404, "NotFound")


def test_a_policy_that_somebody_changed_since_is_not_overwritten(call, busy):
    old = call("get", busy, "/policy").headers["ETag"]
    patch = {"spec": {"kueue": {"fairSharing": {}}}}
    assert call("patch", busy, "/policy", patch, **{"If-Match": old}).status_code == 200
    stale = call("patch", busy, "/policy", patch, **{"If-Match": old})
    assert (stale.status_code, stale.json()["reason"]) == (412, "PreconditionFailed")
    assert stale.json()["details"]["causes"][0]["field"] == "Policy//policy"


def test_an_undo_of_what_somebody_changed_since_is_refused(call, busy):
    seen = call("get", busy, "/hash").json()["revision"]
    flavors = {"objects": [flavor("small")]}
    made = call("post", busy, "/actions/apply", flavors).json()["revision"]
    late = call("post", busy, "/actions/undo", {"revision": seen})
    assert (late.status_code, late.json()["reason"]) == (409, "Conflict")
    done = call("post", busy, "/actions/undo", {"revision": made})
    assert done.status_code == 200
    again = call("post", busy, "/actions/redo", {"revision": made})
    assert again.status_code == 409
    redone = call("post", busy, "/actions/redo", {"revision": done.json()["revision"]})
    assert redone.status_code == 200


def test_an_object_and_the_policy_are_read_as_they_were_at_a_tick(call, busy):
    tick(busy, 3)
    path, then = "/objects/ClusterQueue/-/a", "?tick=2"
    before = call("get", busy, path).json()["spec"]
    policy = call("get", busy, "/policy").json()
    call("patch", busy, path, {"spec": {"stopPolicy": "Hold"}})
    call("patch", busy, "/policy", {"spec": {"kueue": {"fairSharing": {}}}})
    assert call("get", busy, path).json()["spec"] != before
    assert call("get", busy, path + then).json()["spec"] == before
    assert call("get", busy, "/policy" + then).json() == policy
    gone = call("get", busy, "/objects/ClusterQueue/-/none" + then)
    assert gone.status_code == 404


def test_an_object_is_yaml_to_who_accepts_yaml(call, busy):
    answer = call("get", busy, "/objects/ClusterQueue/-/a", Accept="application/yaml")
    assert answer.headers["Content-Type"].startswith("application/yaml")
    assert yaml.safe_load(answer.content)["kind"] == "ClusterQueue"


def test_a_put_of_another_object_than_the_path_names_is_refused(call, busy):
    answer = call("put", busy, "/objects/ResourceFlavor/-/x", flavor("y"))
    assert answer.status_code == 422
    assert "expected ResourceFlavor//x alone" in answer.json()["message"]


def test_the_policy_is_read_and_patched(call, busy):
    patch = {"spec": {"kueue": {"fairSharing": {}}}}
    assert call("patch", busy, "/policy", patch).json()["policy"] is True
    assert call("get", busy, "/policy").json()["spec"]["kueue"] == {"fairSharing": {}}
    bad = call("patch", busy, "/policy", {"spec": {"stack": "nomad"}})
    assert bad.status_code == 422


def test_a_policy_is_replaced_by_its_yaml_and_a_broken_one_names_the_line(
    client, call, busy
):
    path = f"/api/v1/sandboxes/{busy.pk}/policy"
    text = "apiVersion: quotalab.dev/v1\nkind: Policy\nspec:\n  stack: kueue\n"
    sent = {"content_type": "application/yaml"}
    assert client.put(path, text + "  kueue: {fairSharing: {}}\n", **sent).json()[
        "policy"
    ]
    assert call("get", busy, "/policy").json()["spec"]["kueue"] == {"fairSharing": {}}
    broken = client.put(path, text + "  kueue: [\n", **sent)
    assert broken.status_code == 422
    assert "body.yaml:6" in broken.json()["message"]


def test_tables_are_searched_sorted_and_paged(call, busy):
    tick(busy, 8)
    every = call("get", busy, "/tables/workloads").json()
    assert every["total"] == Workload.objects.filter(sandbox=busy).count()
    page = call("get", busy, "/tables/workloads?sort=-priority&limit=2&offset=1").json()
    priorities = [item["priority"] for item in page["items"]]
    assert len(priorities) == 2
    assert priorities == sorted(priorities, reverse=True)
    found = call("get", busy, "/tables/workloads?phase=admitted&search=job").json()
    assert {item["phase"] for item in found["items"]} == {"admitted"}
    parted = call("get", busy, "/tables/workloads?group=phase&limit=1").json()
    assert sum(group["count"] for group in parted["groups"]) == parted["total"]
    assert parted["groups"][0]["value"] == parted["items"][0]["phase"]

    wrong = call("get", busy, "/tables/workloads?colour=red")
    assert wrong.status_code == 422


def test_events_are_read_page_by_page_to_their_end(call, busy):
    tick(busy, 8)
    seen, place = [], ""
    while True:
        body = call("get", busy, f"/events?limit=7&after={place}").json()
        seen += [(item["revision"], item["seq"]) for item in body["items"]]
        place = body["next"]
        if not place:
            break
    newest = call("get", busy, "/events?limit=5000&newest=1").json()["items"]
    assert seen == [(item["revision"], item["seq"]) for item in newest]


def test_the_state_of_a_tick_is_the_page_as_it_was(call, busy):
    tick(busy, 4)
    then = {r["key"]: r for r in call("get", busy, "/state").json()["rows"]}
    tick(busy, 4)
    again = {r["key"]: r for r in call("get", busy, "/state?tick=4").json()["rows"]}
    assert again == then
    assert call("get", busy, "/state?tick=99").status_code == 404


def test_samples_are_thinned_out_evenly(call, busy):
    tick(busy, 20)
    items = call("get", busy, "/samples?limit=5").json()["items"]
    assert [item["tick"] for item in items] == [4, 8, 12, 16, 20]


def test_what_is_exported_makes_the_same_first_state(call, client, make):
    sandbox = make(*contended())
    text = call("get", sandbox, "/export").content.decode()
    files = [{"name": "export.yaml", "text": text}]
    made = client.post("/api/v1/sandboxes", {"files": files, "seed": 1}).json()
    assert made["hash"] == row(sandbox).hash


@pytest.mark.parametrize("what", ["workloads", "events", "samples"])
def test_lines_are_exported_as_csv_and_as_json(call, busy, what):
    tick(busy, 3)
    answer = call("get", busy, f"/export?what={what}")
    assert answer.headers["Content-Type"].startswith("text/csv")
    lines = list(csv.DictReader(io.StringIO(answer.content.decode())))
    rows = call("get", busy, f"/export?what={what}&output=json").json()
    per_row = len(rows[0]["queues"]) if what == "samples" else 1
    assert len(lines) == len(rows) * per_row > 0
    assert lines[0]["tick" if what != "workloads" else "name"]


def test_samples_have_a_row_per_queue_and_tick(call, busy):
    tick(busy, 3)
    text = call("get", busy, "/export?what=samples").content.decode()
    lines = list(csv.DictReader(io.StringIO(text)))
    last = call("get", busy, "/export?what=samples&output=json").json()[-1]
    of_last = [line for line in lines if line["tick"] == str(last["tick"])]
    assert [line["queue"] for line in of_last] == [q["queue"] for q in last["queues"]]
    assert {line["world.pending"] for line in of_last} == {str(last["pending"])}
    assert "queues" not in lines[0]


def test_documents_are_exported_as_one_list_of_json(call, client, busy):
    text = call("get", busy, "/export?output=json").content.decode()
    files = [{"name": "world.json", "text": text}]
    made = client.post("/api/v1/sandboxes", {"files": files, "seed": 1}, format="json")
    assert made.status_code == 201
    assert call("get", busy, "/export?what=queues&output=csv").status_code == 422


def test_the_hash_of_a_tick_is_that_of_the_world_as_it_was(call, busy):
    tick(busy, 2)
    then = call("get", busy, "/hash").json()
    tick(busy, 2)
    assert call("get", busy, f"/hash?tick={then['tick']}").json() == then


def test_a_key_answers_the_same_request_once_more_and_refuses_another(call, busy):
    body, key = {"speed": 3}, {"Idempotency-Key": "k1"}
    first = call("post", busy, "/actions/speed", body, **key)
    again = call("post", busy, "/actions/speed", body, **key)
    assert first.json() == again.json()
    assert row(busy).revision == first.json()["revision"]
    other = call("post", busy, "/actions/speed", {"speed": 5}, **key)
    assert other.status_code == 409


class PausesAndFails(View):
    """A view that does something and then cannot say so."""

    schema = None

    @once
    def post(self, request, sandbox_id: str, *, first: bool):
        if first:
            actions.do_pause(self.user(), sandbox_id)
        raise BusyError("no answer")


@pytest.mark.parametrize(("first", "free"), [(True, False), (False, True)])
def test_a_key_is_free_again_only_where_nothing_was_committed(
    busy, person, first, free
):
    request = APIRequestFactory().post("/", headers={"Idempotency-Key": "once"})
    force_authenticate(request, person)
    view = PausesAndFails.as_view()
    assert view(request, sandbox_id=busy.pk, first=first).status_code == 503
    assert Answer.objects.exists() is not free
    Answer.objects.update(at=Now() - FREE_AFTER)
    again = view(request, sandbox_id=busy.pk, first=first)
    assert again.status_code == (503 if free else 409)


def test_fork_rewind_undo_and_redo_answer_where_they_lead(call, busy):
    tick(busy, 6)
    fork = call("post", busy, "/actions/fork", {"tick": 3})
    assert (fork.status_code, fork.json()["tick"]) == (201, 3)
    call("patch", busy, "/policy", {"spec": {"simulation": {"podStartMs": 9}}})
    assert call("post", busy, "/actions/undo").status_code == 200
    assert call("post", busy, "/actions/redo").status_code == 200
    rewound = call("post", busy, "/actions/rewind", {"tick": 2}).json()
    assert rewound["tick"] == 2
    assert Sandbox.objects.get(pk=rewound["fork"]).tick == 6
    nothing = call("post", busy, "/actions/undo")
    assert (nothing.status_code, nothing.json()["reason"]) == (409, "Conflict")
    assert nothing.json()["details"]["said"] == {
        "code": "refused.noUndo",
        "text": "there is no edit to undo",
        "holes": {},
    }


def test_the_registry_the_library_and_the_schema_are_there(client):
    registry = client.get("/api/v1/registry").json()
    assert {"families" in registry, "kinds" in registry} == {False, True}
    assert any(entry["family"] == "queueing" for entry in registry["entries"])
    assert client.get("/api/v1/scenarios").json()["items"]
    schema = yaml.safe_load(client.get("/api/v1/schema").content)
    assert "/api/v1/sandboxes/{sandbox_id}/actions/move" in schema["paths"]


def test_unknown_paths_and_methods_are_statuses(client, busy):
    assert client.get("/api/v1/sandboxes/aaaaaaaaaaaa").json()["reason"] == "NotFound"
    answer = client.put(f"/api/v1/sandboxes/{busy.pk}", {})
    assert answer.json()["reason"] == "MethodNotAllowed"
    broken = client.post(
        f"/api/v1/sandboxes/{busy.pk}/actions/speed",
        "{",
        content_type="application/json",
    )
    assert (broken.status_code, broken.json()["kind"]) == (400, "Status")


def test_a_path_below_a_sandbox_that_is_nearly_one_says_where_to_look(client, busy):
    below = f"/api/v1/sandboxes/{busy.pk}"
    assert "/api/v1/schema" in client.get(f"{below}/whatifs").json()["message"]
    assert client.get(f"{below}/healthy").content == b"404 page not found\n"


@override_settings(SERVER=True)
def test_on_a_server_a_stranger_is_asked_to_sign_in(busy):
    answer = APIClient().get("/api/v1/sandboxes")
    assert (answer.status_code, answer.json()["reason"]) == (401, "Unauthorized")


PATHS = [
    ("get", ""),
    ("patch", ""),
    ("delete", ""),
    ("get", "/policy"),
    ("patch", "/policy"),
    ("get", "/objects/ClusterQueue/-/a"),
    ("patch", "/objects/ClusterQueue/-/a"),
    ("put", "/objects/ClusterQueue/-/a"),
    ("delete", "/objects/ClusterQueue/-/a"),
    *(
        ("get", f"/{name}")
        for name in (
            "tables/workloads",
            "events",
            "preemptions",
            "samples",
            "state",
            "hash",
            "export",
        )
    ),
    *(
        ("post", f"/actions/{name}")
        for name in ("play", "pause", "undo", "redo", "fork", "import")
    ),
]


@override_settings(SERVER=True)
@pytest.mark.parametrize(("method", "path"), PATHS, ids=lambda part: str(part))
def test_to_somebody_else_a_private_sandbox_is_not_there(
    method, path, call, client, busy, stranger
):
    client.force_authenticate(stranger)
    body = {"metadata": {"name": "a"}} if method in ("put", "patch") else {}
    if (method, path) == ("patch", ""):
        body = {"title": "x"}
    answer = call(method, busy, path, body)
    assert answer.status_code == 404, json.dumps(answer.json())
    assert busy.title not in answer.content.decode()


def test_the_schema_is_made_once_and_not_for_every_request(client, monkeypatch):
    first = client.get("/api/v1/schema", headers={"accept": "application/json"})
    monkeypatch.delattr(SchemaGenerator, "get_schema")
    again = client.get("/api/v1/schema", headers={"accept": "application/json"})
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.json()["openapi"] == "3.1.0"
