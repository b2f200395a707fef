"""A small input makes little work: what it multiplies is counted before it is made."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.builders import cluster_queue, flavor

pytestmark = pytest.mark.django_db

CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}
MAPS = "/api/v1/namespaces/default/configmaps"


def patch(client, sandbox, path: str, media: str, body: Any) -> Any:
    url = f"/api/v1/sandboxes/{sandbox.pk}{path}"
    kind = f"application/{media}+json"
    return client.patch(url, json.dumps(body), content_type=kind)


@pytest.fixture
def configured(call, make):
    """A sandbox with a ConfigMap `m`."""
    sandbox = make(flavor(), cluster_queue("q"))
    made = call("post", sandbox, MAPS, {**CONFIG_MAP, "data": {"a": "b" * 100}})
    assert made.status_code == 201
    return sandbox


def test_a_json_patch_that_copies_the_whole_document_often_is_refused(
    client, configured
):
    whole = [{"op": "copy", "from": "", "path": f"/data/c{n}"} for n in range(30)]
    begun = time.process_time()
    answer = patch(client, configured, f"{MAPS}/m", "json-patch", whole)
    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")
    assert time.process_time() - begun < 1, "seconds of work for a patch of 1,200 bytes"


def test_a_json_patch_that_nests_a_document_in_itself_is_refused(client, configured):
    deep = [
        {"op": "add", "path": "/data", "value": {"a": {}}},
        *(
            {"op": "copy", "from": "/data", "path": "/data" + "/a" * 2**n}
            for n in range(11)
        ),
    ]
    answer = patch(client, configured, f"{MAPS}/m", "json-patch", deep)
    assert 400 <= answer.status_code < 500


def test_a_json_patch_may_copy_what_is_small(client, configured):
    one = [{"op": "copy", "from": "/data/a", "path": "/data/b"}]
    answer = patch(client, configured, f"{MAPS}/m", "json-patch", one)
    assert answer.json()["data"] == {"a": "b" * 100, "b": "b" * 100}


def test_no_patch_makes_an_object_larger_than_a_body_may_be(
    client, configured, settings
):
    settings.LIMITS = {**settings.LIMITS, "bytes_per_body": 1000}
    for media in ("merge-patch", "strategic-merge-patch"):
        half = {"data": {media: "x" * 400}}
        patch(client, configured, f"{MAPS}/m", media, half)
    answer = patch(client, configured, f"{MAPS}/m", "merge-patch", half | {"x": 1})
    assert answer.status_code == 413
    assert answer.json()["message"] == "Request entity too large: limit is 1000"


def test_a_strategic_patch_of_a_long_list_looks_at_each_item_once():
    from api.cluster.patches import strategic

    known = [{"name": f"n{n}", "value": str(n)} for n in range(20_000)]
    changed = [{"name": f"n{n}", "value": "x"} for n in range(20_000)]
    gone = [{"name": f"n{n}", "$patch": "delete"} for n in range(19_999)]
    begun = time.process_time()
    found = strategic({"env": known}, {"env": changed})
    assert strategic(found, {"env": gone}) == {"env": changed[-1:]}
    keys = [f"f{n}" for n in range(20_000)]
    assert strategic({"finalizers": keys}, {"finalizers": keys}) == {"finalizers": keys}
    assert time.process_time() - begun < 2, "each item was compared with each other"
