"""A DELETE of Jobs that does not say what becomes of their pods."""

from __future__ import annotations

JOBS = "/apis/batch/v1/namespaces/default/jobs"
WARNING = "child pods are preserved by default when jobs are deleted"


def job(name: str) -> dict:
    container = {"name": "c", "image": "i"}
    spec = {"restartPolicy": "Never", "containers": [container]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": {"spec": spec}},
    }


def test_it_leaves_the_pods_and_warns(call, make):
    sandbox = make()
    call("post", sandbox, JOBS, job("a"))
    answer = call("delete", sandbox, f"{JOBS}/a")
    assert WARNING in answer["Warning"]
    assert answer.json()["metadata"]["finalizers"] == ["orphan"]


def test_it_does_not_warn_where_it_is_said(call, make):
    sandbox = make()
    call("post", sandbox, JOBS, job("a"))
    answer = call("delete", sandbox, f"{JOBS}/a?propagationPolicy=Background")
    assert "Warning" not in answer.headers


def test_it_does_not_warn_where_a_body_says_that_none_is_left(call, make):
    sandbox = make()
    call("post", sandbox, JOBS, job("a"))
    answer = call("delete", sandbox, f"{JOBS}/a", {"orphanDependents": False})
    assert "Warning" not in answer.headers


def test_it_warns_of_a_job_that_is_not_there(call, make):
    answer = call("delete", make(), f"{JOBS}/nope")
    assert answer.status_code == 404
    assert WARNING in answer["Warning"]
