"""Sentences and hashes that clients know from Go: base64, selectors, roles of pods."""

from __future__ import annotations

import pytest

from api.cluster import json_words
from api.cluster.role_hash import role_hash

SPACE = "/api/v1/namespaces/default"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("", None),
        ("YWI=", None),
        ("YWI\n=", None),
        ("%%", 0),
        ("abc", 0),
        ("YWI", 0),
        ("YW==x", 4),
        ("YW=x", 2),
        ("Y===", 1),
    ],
)
def test_it_is_said_where_base64_ends(text, at):
    assert json_words.fault_of(text) == at


def test_a_token_of_one_letter_is_no_base64():
    found = json_words.fault_of("x", json_words.URL, padded=False)
    assert found == 0


def lasting(what: str) -> dict:
    return {
        "key": f"node.kubernetes.io/{what}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }


@pytest.mark.parametrize(("cpu", "role"), [("100m", "a63b5316"), ("20", "45e6d86d")])
def test_the_role_of_a_pod_is_as_kueue_wrote_it(cpu, role):
    requests = {"memory": "64Mi", "cpu": cpu}
    spec = {
        "containers": [{"name": "c", "resources": {"requests": requests}}],
        "priority": 0,
        "tolerations": [lasting("not-ready"), lasting("unreachable")],
    }
    assert role_hash(spec) == role


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        ("a in", "unable to parse requirement: found '' expected: '('"),
        (
            "a b",
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, "
            "gt, lt",
        ),
        ("==", "found '==', expected: !, identifier, or 'end of string'"),
    ],
)
def test_a_selector_that_cannot_be_read_says_where(call, make, selector, said):
    path = f"{SPACE}/configmaps?labelSelector={selector}"
    assert call("get", make(), path).json()["message"] == said


def test_a_secret_of_no_base64_is_refused(call, make):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    answer = call("post", make(), f"{SPACE}/secrets", {**secret, "data": {"a": "%%"}})
    assert answer.json()["message"].endswith("illegal base64 data at input byte 0")
