"""What admission refuses: limits and quotas of a namespace, and Kueue's webhooks."""

from __future__ import annotations

import pytest

from api.cluster import refusals
from api.cluster.checks import webhooks

SPACE = "/api/v1/namespaces/default"


def pod(name: str, **requests: str) -> dict:
    container = {"name": "c", "image": "i", "resources": {"requests": requests}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container]},
    }


def quota(**hard: str) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q"},
        "spec": {"hard": hard},
    }


def test_a_pod_beyond_a_quota_is_forbidden_and_says_why(call, make):
    sandbox = make()
    call("post", sandbox, f"{SPACE}/resourcequotas", quota(cpu="1", pods="3"))
    assert (
        call("post", sandbox, f"{SPACE}/pods", pod("a", cpu="100m")).status_code == 201
    )
    answer = call("post", sandbox, f"{SPACE}/pods", pod("b", cpu="3")).json()
    assert (answer["code"], answer["message"]) == (
        403,
        'pods "b" is forbidden: exceeded quota: q, requested: cpu=3, used: cpu=100m, '
        "limited: cpu=1",
    )


def test_a_quota_shows_what_is_used_of_it(call, make):
    sandbox = make()
    call("post", sandbox, f"{SPACE}/resourcequotas", quota(cpu="1", pods="3"))
    call("post", sandbox, f"{SPACE}/pods", pod("a", cpu="100m"))
    shown = call("get", sandbox, f"{SPACE}/resourcequotas/q").json()["status"]
    assert shown["used"] == {"cpu": "100m", "pods": "1"}


def test_a_pod_has_to_say_what_a_quota_counts(call, make):
    sandbox = make()
    call("post", sandbox, f"{SPACE}/resourcequotas", quota(cpu="1"))
    answer = call("post", sandbox, f"{SPACE}/pods", pod("a")).json()
    assert answer["message"].endswith("failed quota: q: must specify cpu for: c")


def test_a_pod_gets_the_defaults_of_a_limit_range(call, make):
    sandbox = make()
    item = {"type": "Container", "defaultRequest": {"cpu": "100m"}, "max": {"cpu": "1"}}
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l"},
        "spec": {"limits": [item]},
    }
    call("post", sandbox, f"{SPACE}/limitranges", limits)
    made = call("post", sandbox, f"{SPACE}/pods", pod("a")).json()
    resources = made["spec"]["containers"][0]["resources"]
    assert resources == {"limits": {"cpu": "1"}, "requests": {"cpu": "100m"}}


@pytest.mark.parametrize("kind", sorted({*webhooks.OF_OTHERS, "RayService", "JobSet"}))
def test_a_job_of_any_kind_that_runs_keeps_its_queue(kind):
    before, after = (
        {"kind": kind, "metadata": {"labels": {webhooks.QUEUE: name}}, "spec": {}}
        for name in ("a", "b")
    )
    with pytest.raises(
        refusals.RefusalError, match=f"v{kind.lower()}.kb.io.*immutable"
    ):
        webhooks.check(after, kind, before)
