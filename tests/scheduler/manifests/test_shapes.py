"""Metadata and status of any shape: read, or refused with the field that is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.assembly import assemble
from scheduler.engine.tick import run_tick
from scheduler.input.manifests import kinds
from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.checking import MAY_BE_ODD
from scheduler.model import schemas
from tests.builders import pod

WORKLOAD: dict[str, Any] = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "Workload",
    "metadata": {"namespace": "default", "name": "w"},
    "spec": {
        "queueName": "main",
        "podSets": [{"name": "main", "count": 1, "template": pod("p", cpu=1)}],
    },
}
ASSIGNED = {"name": "main", "flavors": {"cpu": "default"}}


def complaints(**parts: object) -> list[tuple[str, str]]:
    """Return field and problem of what a Workload with these parts is refused for."""
    found = load([("w.json", json.dumps({**WORKLOAD, **parts}))]).findings
    return [(one.place.field, one.problem) for one in found if one.level == "error"]


def assigned(**parts: object) -> dict[str, object]:
    return {"admission": {"podSetAssignments": [{**ASSIGNED, **parts}]}}


def slices(**parts: object) -> dict[str, object]:
    one = {"domainCount": 2, "podCounts": {"universal": 1}, **parts}
    return assigned(topologyAssignment={"levels": ["host"], "slices": [one]})


_SETS = "status.admission.podSetAssignments[0]"


@pytest.mark.parametrize(
    ("status", "field"),
    [
        ([1], "status"),
        ({"conditions": "x"}, "status.conditions"),
        ({"conditions": [""]}, "status.conditions[0]"),
        ({"conditions": [{"status": "True"}]}, "status.conditions[0]"),
        ({"conditions": [{"type": {}}]}, "status.conditions[0].type"),
        (
            {"conditions": [{"type": "Admitted", "lastTransitionTime": {}}]},
            "status.conditions[0].lastTransitionTime",
        ),
        ({"requeueState": {"count": -1}}, "status.requeueState.count"),
        ({"schedulingStats": {"evictions": "x"}}, "status.schedulingStats.evictions"),
        ({"reclaimablePods": [{"count": 1}]}, "status.reclaimablePods[0]"),
        (assigned(flavors=[{}]), f"{_SETS}.flavors"),
        (assigned(name=[]), f"{_SETS}.name"),
        (assigned(count=2**31), f"{_SETS}.count"),
        (
            slices(domainCount=10**10),
            f"{_SETS}.topologyAssignment.slices[0].domainCount",
        ),
        (
            slices(valuesPerLevel=[{"individual": {"roots": ["a"]}}]),
            f"{_SETS}.topologyAssignment.slices[0]",
        ),
        (slices(valuesPerLevel=[]), f"{_SETS}.topologyAssignment"),
        (
            assigned(
                topologyAssignment={
                    "levels": ["rack", "host"],
                    "domains": [{"values": ["a"], "count": 1}],
                }
            ),
            f"{_SETS}.topologyAssignment",
        ),
        ({"preemptionGates": [{}]}, "status.preemptionGates[0]"),
        (
            {"preemptionGates": [{"name": "g", "lastTransitionTime": 1}]},
            "status.preemptionGates[0].lastTransitionTime",
        ),
        (
            {"admissionChecks": [{"name": "c", "podSetUpdates": [{"labels": 1}]}]},
            "status.admissionChecks[0].podSetUpdates[0].labels",
        ),
        (
            {"accumulatedPastExexcutionTimeSeconds": "x"},
            "status.accumulatedPastExexcutionTimeSeconds",
        ),
    ],
)
def test_a_status_that_cannot_be_read_is_refused_by_its_field(status, field):
    assert complaints(status=status)[0][0] == field


@pytest.mark.parametrize(
    ("template", "field"),
    [
        ({"metadata": 1}, "metadata"),
        ({"metadata": {"labels": [1]}}, "metadata.labels"),
        (
            {"spec": pod("p")["spec"] | {"runtimeClassName": {"a": 1}}},
            "spec.runtimeClassName",
        ),
    ],
)
def test_a_template_that_cannot_be_read_is_refused_by_its_field(template, field):
    podset = {"name": "main", "count": 1, "template": pod("p", cpu=1) | template}
    found = complaints(spec={"queueName": "main", "podSets": [podset]})
    assert [place for place, _ in found] == [f"spec.podSets[0].template.{field}"]


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"generation": []}, "metadata.generation"),
        ({"ownerReferences": ["x"]}, "metadata.ownerReferences[0]"),
        ({"creationTimestamp": {}}, "metadata.creationTimestamp"),
    ],
)
def test_metadata_that_cannot_be_read_are_refused_by_their_field(metadata, field):
    named = {**WORKLOAD["metadata"], **metadata}
    assert [place for place, _ in complaints(metadata=named)] == [field]


def test_what_is_expected_is_said_in_plain_words():
    wrong = {"conditions": [{"type": ["Admitted"]}]}
    _, problem = complaints(status=wrong)[0]
    assert problem == "expected a text, got a list"


def test_a_status_as_kueue_writes_it_is_read():
    written = {
        "conditions": [
            {
                "type": "QuotaReserved",
                "status": "True",
                "reason": "QuotaReserved",
                "message": "",
                "lastTransitionTime": "2027-01-15T08:00:00Z",
                "observedGeneration": 1,
            }
        ],
        "requeueState": None,
        **slices(valuesPerLevel=[{"individual": {"prefix": "n", "roots": ["1", "2"]}}]),
    }
    assert complaints(status=written) == []


def test_a_number_over_64_bits_is_refused_by_its_field():
    labels = {"metadata": {**WORKLOAD["metadata"], "x": [{"y": 2**64}]}}
    [(field, problem)] = complaints(**labels)
    assert field == "metadata.x[0].y"
    assert problem.startswith("expected a number of 64 bits")


#: What is put where a schema has an object, map or list, and the reverse.
ODD = ["x", 7, ["x"], {"x": ["y"]}, True]


def structure(type_: str, depth: int = 5) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the way to each object, map and list of a type, and its type."""
    for name, field in schemas.fields_of(type_).items():
        inner = field.type.removeprefix("[]")
        if not name or name in ("metadata", "status") or len(inner) < 2:
            continue
        if inner != field.type or inner.startswith("map ") or schemas.fields_of(inner):
            yield (name,), field.type
        if depth and not inner.startswith("map "):
            for way, last in structure(inner, depth - 1):
                yield (name, *way), last


def bent(type_: str, way: tuple[str, ...], value: object) -> object:
    """Return a value of a type in which one place, and no other, is of another shape."""
    if not way:
        return value
    field = schemas.fields_of(type_)[way[0]]
    inner = bent(field.type.removeprefix("[]"), way[1:], value)
    return {way[0]: [inner] if field.type.startswith("[]") and way[1:] else inner}


TYPES = {
    kind.kind: (kind, schemas.named(kind.group, kind.versions[0], kind.kind))
    for kind in kinds.TABLE
    if kind.level != "configuration"
}


@pytest.mark.parametrize("kind", sorted(name for name, (_, t) in TYPES.items() if t))
@settings(max_examples=15)
@given(data=st.data())
def test_a_value_of_another_shape_is_refused_by_its_place_or_ends_nothing(kind, data):
    known, type_ = TYPES[kind]
    places = list(structure(type_))
    way, wanted = data.draw(st.sampled_from(places)) if places else ((), "")
    value = data.draw(st.sampled_from(ODD))
    given_ = bent(type_, way, value)
    head = {"apiVersion": known.api_version, "kind": kind, "metadata": {"name": "a"}}
    made = {**(given_ if isinstance(given_, dict) else {}), **head}
    found = load([("a.yaml", json.dumps(made))])
    fits = isinstance(value, list if wanted.startswith("[]") else dict)
    if known.level == "simulated" and kind not in MAY_BE_ODD and not fits and way:
        places_said = [one.place.field for one in found.errors if one.place]
        plain = [re.sub(r"\[\d+\]", "", one) for one in places_said]
        assert any(".".join(way).startswith(one) for one in plain), places_said
    elif not found.errors:
        world = assemble(
            [("a.yaml", json.dumps(made))], policy={"stack": "kueue"}
        ).world
        for _ in range(3):
            run_tick(world)
