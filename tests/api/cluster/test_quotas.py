"""ResourceQuotas: objects are counted, and pods by what they ask for and their scopes."""

from __future__ import annotations

import pytest

SPACE = "/api/v1/namespaces/default"


def quota(name: str, **spec) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name},
        "spec": spec,
    }


def config_map(name: str) -> dict:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def pod(name: str, **resources) -> dict:
    container = {"name": "c", "image": "i", "resources": resources}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container]},
    }


@pytest.mark.parametrize("key", ["configmaps", "count/configmaps"])
def test_an_object_beyond_a_count_is_forbidden(call, make, key):
    sandbox = make()
    call("post", sandbox, f"{SPACE}/resourcequotas", quota("q", hard={key: "1"}))
    call("post", sandbox, f"{SPACE}/configmaps", config_map("one"))
    answer = call("post", sandbox, f"{SPACE}/configmaps", config_map("two")).json()
    assert answer["message"] == (
        f'configmaps "two" is forbidden: exceeded quota: q, requested: {key}=1, '
        f"used: {key}=1, limited: {key}=1"
    )


def test_what_is_counted_is_in_the_status(call, make):
    sandbox = make()
    hard = {"configmaps": "3", "count/localqueues.kueue.x-k8s.io": "2"}
    made = call("post", sandbox, f"{SPACE}/resourcequotas", quota("q", hard=hard))
    assert made.json()["status"] == {}  # its controller has not counted yet
    call("post", sandbox, f"{SPACE}/configmaps", config_map("one"))
    found = call("get", sandbox, f"{SPACE}/resourcequotas/q").json()["status"]
    assert found["used"] == {
        "configmaps": "1",
        "count/localqueues.kueue.x-k8s.io": "0",
    }


def test_a_quota_of_best_effort_counts_no_pod_that_asks_for_something(call, make):
    sandbox = make()
    given = quota("q", hard={"pods": "0"}, scopes=["BestEffort"])
    call("post", sandbox, f"{SPACE}/resourcequotas", given)
    asking = call("post", sandbox, f"{SPACE}/pods", pod("a", requests={"cpu": "1"}))
    assert asking.status_code == 201
    assert call("post", sandbox, f"{SPACE}/pods", pod("b")).status_code == 403


def test_a_request_of_zero_is_said(call, make):
    sandbox = make()
    call("post", sandbox, f"{SPACE}/resourcequotas", quota("q", hard={"cpu": "1"}))
    made = call("post", sandbox, f"{SPACE}/pods", pod("a", requests={"cpu": "0"}))
    assert made.status_code == 201


def whole(name: str, **resources) -> dict:
    """Return a pod that says its resources as a whole, and its container none."""
    made = pod(name)
    made["spec"]["resources"] = resources
    return made


def test_what_a_pod_asks_for_as_a_whole_counts(call, make):
    sandbox = make()
    hard = {"requests.cpu": "3", "limits.cpu": "4"}
    call("post", sandbox, f"{SPACE}/resourcequotas", quota("q", hard=hard))
    asked = whole("a", requests={"cpu": "1"}, limits={"cpu": "2"})
    assert call("post", sandbox, f"{SPACE}/pods", asked).status_code == 201
    found = call("get", sandbox, f"{SPACE}/resourcequotas/q").json()["status"]
    assert found["used"] == {"requests.cpu": "1", "limits.cpu": "2"}


def test_a_pod_that_asks_as_a_whole_is_not_of_best_effort(call, make):
    sandbox = make()
    given = quota("q", hard={"pods": "0"}, scopes=["BestEffort"])
    call("post", sandbox, f"{SPACE}/resourcequotas", given)
    made = call("post", sandbox, f"{SPACE}/pods", whole("a", requests={"cpu": "1"}))
    assert made.status_code == 201


def test_a_pod_that_has_ended_counts_as_an_object_alone(call, make):
    ended = {**pod("a", requests={"cpu": "1"}), "status": {"phase": "Succeeded"}}
    ended["metadata"]["namespace"] = "default"
    sandbox = make(ended)
    hard = {"pods": "1", "count/pods": "2", "cpu": "1"}
    call("post", sandbox, f"{SPACE}/resourcequotas", quota("q", hard=hard))
    found = call("get", sandbox, f"{SPACE}/resourcequotas/q").json()["status"]
    assert found["used"] == {"pods": "0", "count/pods": "1", "cpu": "0"}


def test_a_quota_of_a_file_that_cannot_be_read_refuses_nothing(call, make):
    broken = quota("q", hard=["pods"])
    broken["metadata"]["namespace"] = "default"
    sandbox = make(broken)
    assert call("post", sandbox, f"{SPACE}/pods", pod("a")).status_code == 201
    found = call("get", sandbox, f"{SPACE}/resourcequotas/q").json()
    assert found["status"] == {}
