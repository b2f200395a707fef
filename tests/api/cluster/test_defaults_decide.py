"""What an API server writes into an object decides as the object without it does."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.cluster import presenting, resources
from scheduler.assembly import assemble
from scheduler.engine.tick import simulate
from scheduler.input.manifests.load import load
from scheduler.model.decisions import Decision
from scheduler.model.errors import SchedulerError
from tests.builders import node, small_cluster
from tests.scheduler.manifests.test_any_spec import SIMULATED, WHOLE, bent, headed

Manifest = dict[str, Any]
#: Kinds whose names are made of their template, and what runs of them, too.
HASHED = frozenset({"Deployment", "ReplicaSet"})
#: Of a group whose kind has another group's name, too: an API server of a sandbox has it not.
UNSERVED = frozenset({"Workload.scheduling.k8s.io"})
#: Written by admission, of other objects and not of the fields that are given.
ADMITTED = {"Pod": ("priority", "preemptionPolicy"), "Job": ("suspend",)}


def shown(manifest: Manifest) -> Manifest:
    """Return an object as an API server shows it, but for what its controllers write."""
    group, _, version = manifest["apiVersion"].rpartition("/")
    [resource] = [
        one
        for one in resources.resources_of(group, version)
        if one.kind.kind == manifest["kind"]
    ]
    made = presenting.complete(copy.deepcopy(manifest), resource)
    for holder, was in ((made, manifest), (made["metadata"], manifest["metadata"])):
        for name in {"status", "finalizers"} - was.keys():
            holder.pop(name, None)
    if isinstance(made.get("spec"), dict):
        for name in ADMITTED.get(made["kind"], ()):
            if name not in (manifest.get("spec") or {}):
                made["spec"].pop(name, None)
    return made


def told(files: Iterable[Manifest], stack: str) -> list[tuple[Any, ...]]:
    texts = [("a.yaml", json.dumps(one)) for one in files]
    world = assemble(texts, policy={"stack": stack}).world
    return [_words(one) for one in simulate(world, until_ms=20_000).decisions]


def _words(one: Decision) -> tuple[Any, ...]:
    node = getattr(one, "node", "")
    return one.at_ms, type(one).__name__, str(one.subject), str(node)


def test_a_field_that_is_null_is_not_given():
    made = headed("StatefulSet", copy.deepcopy(WHOLE["StatefulSet"]), runtime="5s")
    made["spec"]["replicas"] = None
    files = [*small_cluster(cpu="8"), node("n", cpu=16)]
    for stack in ("kueue", "kube", "yunikorn"):
        found = told([*files, made], stack)
        del made["spec"]["replicas"]
        assert told([*files, made], stack) == found
        made["spec"]["replicas"] = None


@pytest.mark.parametrize("kind", sorted(SIMULATED.keys() - HASHED - UNSERVED))
@settings(max_examples=20)
@given(data=st.data())
def test_an_object_decides_as_what_an_api_server_shows_of_it(kind, data):
    made = headed(kind, bent(data.draw, kind), runtime="5s")
    stack = data.draw(st.sampled_from(["kueue", "kube", "yunikorn"]))
    twin = copy.deepcopy(made)
    twin["metadata"]["name"] = "b"
    files = [*small_cluster(cpu="8"), node("n", cpu=16), made, twin]
    texts = [("a.yaml", json.dumps(one)) for one in files]
    if load(texts).errors:
        return
    try:
        asked = told(files, stack)
    except SchedulerError:
        return
    assert told(map(shown, files), stack) == asked
