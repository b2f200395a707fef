"""Objects in Kubernetes' binary encoding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cluster.protobuf import MEDIA, decode, encode

NAMES = st.text("abcdefghij-", min_size=1, max_size=12)
CONTAINERS = st.fixed_dictionaries(
    {"name": NAMES, "image": NAMES},
    optional={
        "command": st.lists(NAMES, min_size=1, max_size=3),
        "resources": st.fixed_dictionaries(
            {"requests": st.dictionaries(NAMES, NAMES, min_size=1, max_size=3)}
        ),
        "ports": st.lists(
            st.fixed_dictionaries({"containerPort": st.integers(1, 65535)}), min_size=1
        ),
        "livenessProbe": st.fixed_dictionaries(
            {"httpGet": st.fixed_dictionaries({"port": st.integers(1, 9) | NAMES})}
        ),
    },
)
SPECS = st.fixed_dictionaries(
    {
        "template": st.fixed_dictionaries(
            {
                "spec": st.fixed_dictionaries(
                    {"containers": st.lists(CONTAINERS, min_size=1, max_size=3)},
                    optional={
                        "nodeSelector": st.dictionaries(NAMES, NAMES, min_size=1)
                    },
                )
            }
        )
    },
    optional={
        "backoffLimit": st.integers(-(2**31), 2**31 - 1),
        "suspend": st.booleans(),
        "completionMode": NAMES,
    },
)


@given(name=NAMES, spec=SPECS)
def test_a_job_is_read_as_it_was_written(name, spec):
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "creationTimestamp": "2026-01-02T03:04:05Z"},
        "spec": spec,
    }
    assert decode(encode(job)) == job


@given(st.binary(max_size=60))
def test_bytes_that_are_no_object_are_a_value_error_and_nothing_else(body):
    with pytest.raises(ValueError):
        decode(b"k8s\x00" + body)


def test_a_client_that_sends_and_reads_nothing_else_is_served(client, busy):
    given_ = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "sent"},
        "data": {"a": "1"},
    }
    url = f"/api/v1/sandboxes/{busy.pk}/api/v1/namespaces/default/configmaps"
    made = client.post(
        url, data=encode(given_), content_type=MEDIA, headers={"Accept": MEDIA}
    )
    assert (made.status_code, made.headers["Content-Type"]) == (201, MEDIA)
    assert decode(made.content)["data"] == {"a": "1"}
    listed = client.get(url, headers={"Accept": MEDIA})
    assert listed.content.startswith(b"k8s\x00")


def test_a_custom_resource_is_not_read_in_protobuf(client, busy):
    url = f"/api/v1/sandboxes/{busy.pk}/apis/kueue.x-k8s.io/v1beta2/cohorts"
    answer = client.post(url, data=b"k8s\x00", content_type=MEDIA)
    assert answer.status_code == 415
    assert "application/json, application/yaml" in answer.json()["message"]
