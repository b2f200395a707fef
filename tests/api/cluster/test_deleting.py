"""What a deletion takes with it, and what holds an object back."""

from __future__ import annotations

MAPS = "/api/v1/namespaces/{}/configmaps"


def config(name: str, namespace: str = "default", **metadata) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, **metadata},
    }


def create(call, sandbox, document: dict) -> dict:
    place = MAPS.format(document["metadata"]["namespace"])
    answer = call("post", sandbox, place, document)
    assert answer.status_code == 201, answer.content
    return answer.json()


def owner_of(made: dict) -> list[dict]:
    metadata = made["metadata"]
    about = {"apiVersion": "v1", "kind": "ConfigMap"}
    return [{**about, "name": metadata["name"], "uid": metadata["uid"]}]


def names(call, sandbox, namespace: str = "default") -> list[str]:
    listed = call("get", sandbox, MAPS.format(namespace)).json()["items"]
    return [item["metadata"]["name"] for item in listed]


def test_what_has_finalizers_stays_until_a_write_leaves_it_none(call, busy):
    create(call, busy, config("held", finalizers=["example.org/hold"]))
    path = f"{MAPS.format('default')}/held"
    assert call("delete", busy, path).json()["metadata"]["deletionTimestamp"]
    assert names(call, busy) == ["held"]
    call("patch", busy, path, {"metadata": {"finalizers": None}})
    assert call("get", busy, path).status_code == 404


def test_what_is_in_use_goes_when_a_write_takes_its_finalizer(call, busy):
    every = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"
    path = f"{every}/{call('get', busy, every).json()['items'][0]['metadata']['name']}"
    call("patch", busy, path, {"metadata": {"finalizers": None}})
    assert call("delete", busy, path).json()["metadata"]["finalizers"]
    call("patch", busy, path, {"metadata": {"labels": {"still": "there"}}})
    assert call("get", busy, path).status_code == 200
    call("patch", busy, path, {"metadata": {"finalizers": None}})
    assert call("get", busy, path).status_code == 404


def test_what_is_owned_goes_with_its_owner_and_what_that_owns(call, busy):
    first = create(call, busy, config("first"))
    second = create(call, busy, config("second", ownerReferences=owner_of(first)))
    create(call, busy, config("third", ownerReferences=owner_of(second)))
    call("delete", busy, f"{MAPS.format('default')}/first")
    assert names(call, busy) == []


def test_what_is_owned_is_left_behind_where_that_is_asked_for(call, busy):
    first = create(call, busy, config("first"))
    create(call, busy, config("second", ownerReferences=owner_of(first)))
    options = {"propagationPolicy": "Orphan"}
    call("delete", busy, f"{MAPS.format('default')}/first", options)
    left = call("get", busy, f"{MAPS.format('default')}/second").json()
    assert "ownerReferences" not in left["metadata"]


def test_a_namespace_goes_with_all_that_is_in_it(call, busy):
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "temp"}}
    call("post", busy, "/api/v1/namespaces", space)
    create(call, busy, config("inner", "temp"))
    assert call("delete", busy, "/api/v1/namespaces/temp").status_code == 200
    assert names(call, busy, "temp") == []
    assert call("get", busy, "/api/v1/namespaces/temp").status_code == 404


def test_a_namespace_waits_for_what_is_held_back_in_it(call, busy):
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "temp"}}
    call("post", busy, "/api/v1/namespaces", space)
    create(call, busy, config("inner", "temp", finalizers=["example.org/hold"]))
    call("delete", busy, "/api/v1/namespaces/temp")
    waits = call("get", busy, "/api/v1/namespaces/temp").json()
    assert waits["status"]["phase"] == "Terminating"
    path = f"{MAPS.format('temp')}/inner"
    call("patch", busy, path, {"metadata": {"finalizers": None}})
    assert call("get", busy, "/api/v1/namespaces/temp").status_code == 404


def test_namespaces_are_deleted_one_by_one_and_default_never(call, busy):
    assert call("delete", busy, "/api/v1/namespaces").status_code == 405
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    call("post", busy, "/api/v1/namespaces", space)
    answer = call("delete", busy, "/api/v1/namespaces/default")
    assert (answer.status_code, answer.json()["reason"]) == (403, "Forbidden")
