"""What a request says and nobody reads is refused; nothing is carried out."""

from __future__ import annotations

import pytest

from tests.builders import flavor

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def problems(answer) -> dict[str, str]:
    causes = answer.json()["details"]["causes"]
    return {cause["field"]: cause["message"] for cause in causes}


def revision(call, sandbox) -> int:
    return call("get", sandbox, "").json()["revision"]


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
