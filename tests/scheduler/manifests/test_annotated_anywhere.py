"""Annotations of ours count wherever a person puts them, for every kind of work."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.model import registry
from scheduler.model.annotations import RUNTIME
from scheduler.model.objects import Key
from tests.builders import job
from tests.conformance import vectors

VECTORS = Path(__file__).parents[2] / "vectors" / "kueue" / "jobs.jsonl.gz"
Manifest = dict[str, Any]


def of_each_kind() -> dict[str, Manifest]:
    kinds = {entry.name for entry in registry.entries("job-kind")}
    found: dict[str, Manifest] = {}
    for vector in vectors(VECTORS):
        for one in vector["objects"]:
            if one["kind"] in kinds and not load([("w", yaml.safe_dump(one))]).errors:
                found.setdefault(one["kind"], one)
    return found


ONES = of_each_kind()


def templates(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each pod template in a manifest."""
    if isinstance(value, list):
        for index, one in enumerate(value):
            yield from templates(one, (*path, index))
    elif isinstance(value, dict):
        spec = value.get("spec")
        if path and isinstance(spec, dict) and "containers" in spec:
            yield path
        else:
            for name, one in value.items():
                yield from templates(one, (*path, name))


def annotated(manifest: Manifest, path: tuple[Any, ...], span: str) -> Manifest:
    made = copy.deepcopy(manifest)
    at: Any = made
    for step in path:
        at = at[step]
    at.setdefault("metadata", {}).setdefault("annotations", {})[RUNTIME] = span
    return made


def taken(*manifests: Manifest) -> Loaded:
    return load([("w.yaml", yaml.safe_dump_all(manifests))])


def test_every_kind_of_work_is_tried():
    assert sorted(ONES) == sorted(e.name for e in registry.entries("job-kind"))


PLACES = [(kind, path) for kind, one in ONES.items() for path in ((), *templates(one))]


@pytest.mark.parametrize(("kind", "path"), PLACES, ids=lambda one: str(one))
def test_a_run_time_counts_wherever_it_stands(kind, path):
    found = taken(annotated(ONES[kind], path, "7m"))
    (obj,) = (one for one in found.objects if one.key.kind == kind)
    assert obj.annotations[RUNTIME] == "7m"


@pytest.mark.parametrize(
    ("kind", "path"), [place for place in PLACES if place[1]], ids=lambda one: str(one)
)
def test_two_run_times_that_differ_are_a_finding(kind, path):
    both = annotated(annotated(ONES[kind], path, "7m"), (), "1m")
    codes = [one.said.code for one in taken(both).findings]
    assert "runTime.two" in codes


def owned(manifest: Manifest, owner: Manifest, **metadata: Any) -> Manifest:
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": "1",
        "controller": True,
    }
    made = copy.deepcopy(manifest)
    made["metadata"] |= {"ownerReferences": [reference], **metadata}
    return made


def test_what_stands_on_the_owner_of_a_tree_counts_below_it():
    owner = annotated(ONES["JobSet"], (), "2h")
    child = owned(job("child"), owner, namespace=owner["metadata"]["namespace"])
    found = taken(owner, child)
    key = Key("Job", owner["metadata"]["namespace"], "child")
    assert found.by_key[key].annotations[RUNTIME] == "2h"


def test_an_object_that_differs_from_its_owner_is_a_finding():
    owner = annotated(ONES["JobSet"], (), "2h")
    child = owned(job("child"), owner, namespace=owner["metadata"]["namespace"])
    found = taken(owner, annotated(child, (), "5m"))
    assert "runTime.twoOwners" in [one.said.code for one in found.findings]
