"""What a request says and nobody reads is refused; nothing is carried out."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import pytest
from drf_spectacular.generators import SchemaGenerator
from rest_framework import serializers

import api.views
from api.serializers.lessons import LookSerializer
from api.serializers.wrong_values import unknown_keys, wrong_values
from sandbox import actions
from sandbox.live.body_limits import CARRYING
from tests.builders import flavor, job, small_cluster
from tests.sandbox.conftest import row, tick

pytestmark = pytest.mark.django_db


_METHODS = ("get", "put", "post", "patch", "delete")
_READS = re.compile(r"self\.read\(\s*(?:bodies\.)?(\w+)")
#: Every serializer that a view reads a body with.
READ = sorted(
    {
        getattr(views, name, None) or getattr(views.bodies, name)
        for module in pkgutil.iter_modules(api.views.__path__)
        for views in [importlib.import_module(f"api.views.{module.name}")]
        for name in _READS.findall(inspect.getsource(views))
    },
    key=lambda kind: kind.__name__,
)


def _carries_files(schema: dict, operation: dict) -> bool:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is None:
        return False
    name = body["schema"].get("$ref", "").rpartition("/")[2]
    shape = schema["components"]["schemas"].get(name, {})
    return "files" in shape.get("properties", {})


def test_where_files_are_sent_whole_files_are_taken():
    schema = SchemaGenerator().get_schema(request=None, public=True)
    carrying = {
        path
        for path, methods in schema["paths"].items()
        for method in _METHODS
        if _carries_files(schema, methods.get(method, {}))
    }
    assert "/api/v1/twins" in carrying
    assert not [path for path in carrying if not CARRYING.match(path)]


def problems(answer) -> dict[str, str]:
    causes = answer.json()["details"]["causes"]
    return {cause["field"]: cause["message"] for cause in causes}


def revision(call, sandbox) -> int:
    return call("get", sandbox, "").json()["revision"]


def revision_of(sandbox) -> int:
    return row(sandbox).revision


def test_a_mistyped_dry_run_imports_nothing(call, make):
    sandbox = make()
    before = revision(call, sandbox)
    body = {"objects": [flavor()], "dryrun": True}
    answer = call("post", sandbox, "/actions/import", body)
    assert answer.status_code == 422
    assert "did you mean dryRun?" in problems(answer)["dryrun"]
    assert revision(call, sandbox) == before


def test_a_mistyped_dry_run_in_the_query_imports_nothing(call, make):
    sandbox = make()
    before = revision(call, sandbox)
    body = {"objects": [flavor()]}
    answer = call("post", sandbox, "/actions/import?dryrun=All", body)
    assert answer.status_code == 422
    assert "did you mean dryRun?" in problems(answer)["dryrun"]
    assert revision(call, sandbox) == before


def test_a_dry_run_is_true_or_false(call, make):
    answer = call("post", make(), "/actions/import?dryRun=please", {"objects": []})
    assert "expected true or false, got 'please'" in problems(answer)["dryRun"]


def test_a_step_with_a_key_that_nobody_knows_is_refused(call, make):
    sandbox = make()
    answer = call("post", sandbox, "/actions/step", {"tick": 600})
    assert answer.status_code == 422
    assert "did you mean ticks?" in problems(answer)["tick"]
    assert not call("get", sandbox, "").json()["playing"]


def test_an_unknown_key_is_named_by_its_path_beside_every_other_fault(call, make):
    files = [{"name": "a.yaml", "test": "kind: List"}]
    body = {"files": files, "skipErrors": "perhaps"}
    found = problems(call("post", make(), "/actions/import", body))
    assert "did you mean text?" in found["files[0].test"]
    assert "skipErrors" in found


@pytest.mark.parametrize(
    ("path", "body", "problem"),
    [
        ("step", {"ticks": "600"}, 'ticks: expected a number, got "600"'),
        ("step", {"ticks": True}, "ticks: expected a number, got true"),
        ("step", {"ticks": 1.5}, "ticks: expected a whole number, got 1.5"),
        ("step", {"ticks": -1}, "ticks: expected at least 1, got -1"),
        ("step", {"untilTick": "9"}, 'untilTick: expected a number, got "9"'),
        ("play", {"speed": True}, "speed: expected a number, got true"),
        ("speed", {"speed": "1e0"}, 'speed: expected a number, got "1e0"'),
        ("rewind", {"tick": "0"}, 'tick: expected a number, got "0"'),
        (
            "import",
            {"files": [], "skipErrors": "yes"},
            'skipErrors: expected true or false, got "yes"',
        ),
    ],
)
def test_a_value_of_a_body_is_of_its_type_and_in_its_range(
    call, make, path, body, problem
):
    sandbox = make(flavor())
    before = revision_of(sandbox)
    answer = call("post", sandbox, f"/actions/{path}", body)
    assert answer.status_code == 422
    assert problems(answer)[problem.split(":")[0]] == problem
    assert revision_of(sandbox) == before


def test_a_number_of_the_query_is_not_cut_to_what_is_possible(call, make):
    answer = call("get", make(), "/events?limit=9999999")
    assert problems(answer)["limit"] == "limit: expected at most 5000, got 9999999"


def test_a_wrong_number_is_named_by_its_path():
    body = {"revealed": [0, "1"]}
    assert list(wrong_values(LookSerializer(), body)) == ["revealed[1]"]


def operations() -> list[tuple[str, str]]:
    """Return (method, path) of every documented operation, with what is there in it."""
    found = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    return [
        (m, path) for path, methods in found.items() for m in methods if m in _METHODS
    ]


def test_a_parameter_that_no_operation_documents_is_refused_by_each(client, make):
    """Before anything else is looked at, so that a place that does not exist matters not."""
    sandbox, silent = make(), []
    before = revision_of(sandbox)
    for method, path in operations():
        if path.endswith(("/schema", "/tables/{table}")):
            continue  # not ours; takes any field
        where = path.replace("{sandbox_id}", sandbox.pk)
        where = re.sub(r"\{\w+_id\}|\{run\}|\{event\}", "1", where)
        answer = getattr(client, method)(f"{re.sub(r'[{}]', '', where)}?drYrun=1")
        if answer.status_code != 422 or "drYrun" not in problems(answer):
            silent.append((method, path, answer.status_code))
    assert silent == []
    assert revision_of(sandbox) == before


def test_a_field_that_a_table_has_not_is_refused(call, make):
    sandbox = make(flavor())
    answer = call("get", sandbox, "/tables/resourceflavors?limti=1")
    assert "no such field" in problems(answer)["limti"]


def nested(
    field: object, path: tuple[object, ...] = ()
) -> Iterator[tuple[object, ...]]:
    """Yield the way to each object of a body: keys, and 0 for the first of a list."""
    if isinstance(field, serializers.ListSerializer):
        yield from nested(field.child, (*path, 0))
    elif isinstance(field, serializers.Serializer):
        yield path
        for name, child in field.fields.items():
            yield from nested(child, (*path, name))
    else:
        held = getattr(field, "child", None)
        assert not isinstance(held, serializers.BaseSerializer), "its keys go unread"


@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.__name__)
def test_an_unknown_key_is_refused_at_every_depth_of_every_body(kind):
    for path in nested(kind()):
        body: object = {"zzz": 1}
        for step in reversed(path):
            body = [body] if step == 0 else {step: body}
        place = "".join("[0]" if step == 0 else f".{step}" for step in path)
        assert list(unknown_keys(kind(), body)) == [f"{place}.zzz".lstrip(".")]


@pytest.mark.parametrize("path", ["/actions/pause", "/actions/archive"])
def test_a_body_where_none_is_read_is_refused(call, make, path):
    sandbox = make()
    before = revision(call, sandbox)
    answer = call("post", sandbox, path, {"dryRun": True})
    assert answer.status_code == 422
    assert "expected no body" in problems(answer)[""]
    assert revision(call, sandbox) == before
    assert call("delete", sandbox, "", {"dryRun": True}).status_code == 422


@pytest.mark.parametrize("method", ["patch", "put"])
@pytest.mark.parametrize("key", ["dryRun", "specs", "propagationPolicy"])
def test_a_key_that_no_object_has_is_refused_and_nothing_is_stored(
    call, busy, method, key
):
    path = "/objects/ResourceFlavor/-/default"
    before = call("get", busy, path).json()
    body = {key: ["All"]}
    if method == "put":
        body |= {n: before[n] for n in ("apiVersion", "kind")}
        body["metadata"] = {"name": "default"}
    refused = call(method, busy, path, body)
    assert refused.status_code == 422
    assert key in refused.json()["message"]
    assert call("get", busy, path).json() == before


def test_an_option_in_an_object_is_refused_with_where_it_belongs(call, busy, person):
    text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: b}}"
    actions.do_import(person, busy.pk, [("x.yaml", text)])
    path = "/objects/ConfigMap/default/x"
    refused = call("patch", busy, path, {"dryRun": "All"})
    assert "in the query" in refused.json()["message"]
    assert call("patch", busy, path, {"data": {"a": "c"}}).status_code == 200


WRONG_CHOICES = {
    "tables/workloads?phase=pendign": "did you mean pending?",
    "tables/nodes?state=redy": "did you mean ready?",
    "tables/pods?phase=Runing": "did you mean running?",
    "events?type=admit": "did you mean Admit?",
    "events?type=Admit,Preemt": "did you mean Preempt?",
    "export?what=object": "did you mean objects?",
    "export?output=xml": "expected one of",
    "forecast?arrivals=knwon": "did you mean known?",
    "explain/default/x?kind=pod": "did you mean Pod?",
}


@pytest.mark.parametrize(("path", "said"), WRONG_CHOICES.items())
def test_a_value_that_is_none_of_the_choices_is_refused_and_says_which_was_meant(
    call, busy, path, said
):
    refused = call("get", busy, f"/{path}")
    assert refused.status_code == 422
    assert said in refused.json()["message"]


def test_an_empty_table_refuses_what_a_full_one_does(call, make):
    refused = call("get", make(), "/tables/workloads?phase=nothing")
    assert refused.status_code == 422


def test_what_waits_inadmissible_is_pending_and_not_active(call, make, person):
    big = [job(f"big-{n}", queue="main", cpu="9") for n in range(3)]
    sandbox = make(*small_cluster(cpu="4"), *big)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 3)
    found = {
        phase: call("get", sandbox, f"/tables/workloads?phase={phase}").json()["total"]
        for phase in ("pending", "inadmissible", "active")
    }
    assert found == {"pending": 3, "inadmissible": 3, "active": 0}


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({"at": -1, "changes": []}, ["at", "changes"]),
        ({"changes": [{"policy": {}}], "seeds": [1, 10**30]}, ["seeds[1]"]),
        ({"changes": [{"polcy": {}}]}, ["changes[0].polcy"]),
        (
            {"changes": [{"policy": {}}, {"delete": {}}]},
            ["changes[1].delete.kind", "changes[1].delete.name"],
        ),
        ({"changes": [{"apply": [1]}]}, ["changes[0].apply"]),
        ({"changes": [{}]}, ["changes[0]"]),
    ],
)
def test_what_is_wrong_is_said_once_and_where(client, make, body, places):
    path = f"/api/v1/sandboxes/{make().pk}/what-ifs"
    answer = client.post(path, body, content_type="application/json")
    assert answer.status_code == 422, answer.content
    causes = answer.json()["details"]["causes"]
    assert sorted(one["field"] for one in causes) == places


@pytest.mark.parametrize(
    ("method", "path", "body", "said"),
    [
        ("post", "", {"stack": "kub"}, "one of kueue, yunikorn, kube"),
        ("patch", "/{id}", {"visibility": "publik"}, "did you mean public?"),
        ("post", "/{id}/forecasts", {"arrivals": "al"}, "one of"),
    ],
)
@pytest.mark.django_db
def test_a_choice_that_there_is_not_says_which_there_are(
    client, busy, method, path, body, said
):
    url = f"/api/v1/sandboxes{path.format(id=busy.pk)}"
    answer = getattr(client, method)(url, body, format="json")
    assert answer.status_code == 422
    assert said in answer.json()["message"]
