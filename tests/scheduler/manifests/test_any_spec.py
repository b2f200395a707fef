"""A spec of any values: refused by its place, or what runs of it comes to its end."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.assembly import assemble
from scheduler.engine.tick import run_tick
from scheduler.input.manifests import kinds
from scheduler.input.manifests.load import load
from scheduler.model import schemas
from tests.builders import job, node, pod, small_cluster
from tests.scheduler.manifests.test_annotated_anywhere import ONES

TEMPLATE = job("a")["spec"]["template"]
LABELLED = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
#: An object of each kind that can be read as it is; of others one of required fields.
WHOLE: dict[str, Any] = {
    **ONES,
    "Pod": pod("p"),
    "Job": job("j", parallelism=2),
    "ReplicaSet": {"spec": LABELLED},
    "DaemonSet": {"spec": LABELLED},
    "CronJob": {
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job("j")["spec"]}}
    },
    "Workload": {
        "spec": {"podSets": [{"name": "a", "count": 1, "template": TEMPLATE}]}
    },
    "Node": node("x"),
}
#: What is put in a place, beside what its type and its choices are.
ODD = [None, "x", "", "1.5%", "-1", 7, -1, 0, 1.5, True, [], ["x"], [7], {}, {"x": "y"}]
PLAIN: dict[str, list[Any]] = {
    "string": ["a", "1s", "*"],
    "Time": ["2027-01-15T08:00:00Z"],
    "int32": [1, 2],
    "int64": [1, 2],
    "bool": [True, False],
    "Quantity": ["1", "0"],
    "IntOrString": [1, "50%"],
}
SIMULATED = {
    kind.kind: (kind, schemas.read_of(kind.group, kind.kind))
    for kind in kinds.TABLE
    if kind.level == "simulated" and kind.kind not in ("Change", "Namespace")
}


def ways(type_: str, depth: int = 9) -> Iterator[tuple[str, ...]]:
    """Yield the way to each field of a type."""
    for name, field in schemas.fields_of(type_).items():
        if name and name not in ("apiVersion", "kind", "metadata", "status"):
            yield (name,)
            if depth:
                for way in ways(schemas.bare(field.type), depth - 1):
                    yield (name, *way)


WAYS = {kind: list(ways(type_)) for kind, (_, type_) in SIMULATED.items()}


def plausible(draw: Any, field: schemas.Field, type_: str) -> Any:
    if type_.startswith("[]"):
        return [plausible(draw, field, type_[2:])]
    if type_.startswith("map "):
        return {"a": plausible(draw, field, type_[4:])}
    if field.enum or type_ in PLAIN:
        return draw(st.sampled_from(field.enum or PLAIN[type_]))
    return needed(draw, type_)


def needed(draw: Any, type_: str) -> dict[str, Any]:
    """Return an object of the fields that a type requires; each may be missing."""
    return {
        name: plausible(draw, field, field.type)
        for name, field in schemas.fields_of(type_).items()
        if field.required and draw(st.integers(0, 9))
    }


def put(draw: Any, known: Any, type_: str, way: tuple[str, ...]) -> Any:
    """Return an object with one place filled, and what is required on the way to it."""
    name, *inner = way
    field, made = schemas.fields_of(type_)[name], dict(known or needed(draw, type_))
    if not inner:
        fits = plausible(draw, field, field.type)
        made[name] = draw(st.sampled_from(ODD) | st.just(fits))
        return made
    last, of = made.get(name), schemas.bare(field.type)
    if field.type.startswith("[]"):
        items = last if isinstance(last, list) else []
        items = [put(draw, items and items[0], of, tuple(inner)), *items[1:]]
        return {**made, name: items}
    if field.type.startswith("map "):
        given_ = last if isinstance(last, dict) and last else {"a": None}
        return {
            **made,
            name: {
                key: put(draw, one, of, tuple(inner)) for key, one in given_.items()
            },
        }
    return {**made, name: put(draw, last, of, tuple(inner))}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = enumerate(value) if isinstance(value, list) else ()
    for key, one in value.items() if isinstance(value, dict) else items:
        yield from places(one, (*path, key))


def bent(draw: Any, kind: str) -> dict[str, Any]:
    """Return an object of a kind of which one place may hold anything."""
    made = copy.deepcopy(
        WHOLE.get(kind) or needed(draw, SIMULATED[kind][1]) or {"spec": {}}
    )
    if WAYS[kind] and (not made.get("spec") or draw(st.booleans())):
        way = draw(st.sampled_from(WAYS[kind]))
        return dict(put(draw, made, SIMULATED[kind][1], way))
    *above, last = draw(st.sampled_from(list(places(made))))
    at: Any = made
    for step in above:
        at = at[step]
    if draw(st.booleans()):
        at[last] = draw(st.sampled_from(ODD))
    else:
        del at[last]
    return made


def headed(kind: str, made: dict[str, Any], **annotations: str) -> dict[str, Any]:
    metadata = {
        "name": "a",
        "namespace": "default",
        "labels": {"kueue.x-k8s.io/queue-name": "main"},
        "annotations": {f"quotalab.dev/{k}": v for k, v in annotations.items()},
    }
    version = SIMULATED[kind][0].api_version
    return made | {"apiVersion": version, "kind": kind, "metadata": metadata}


def change(kind: str) -> dict[str, Any]:
    """Return a change of the labels of an object's pods, where it has any."""
    label = {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}}
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Change",
        "metadata": {"name": "c", "annotations": {"quotalab.dev/arrival": "20s"}},
        "spec": {
            "target": {"kind": kind, "name": "a", "namespace": "default"},
            "patch": label if kind in ("Deployment", "StatefulSet") else {},
        },
    }


@pytest.mark.parametrize("kind", sorted(SIMULATED))
@settings(max_examples=20)
@given(data=st.data())
def test_a_spec_of_any_values_is_refused_by_its_place_or_ends_nothing(kind, data):
    ends = data.draw(st.sampled_from(["fails-after", "runtime"]))
    made = headed(kind, bent(data.draw, kind), **{ends: "5s"})
    around = [*small_cluster(cpu="8"), node("n", cpu=16)]
    files = [("a.yaml", json.dumps(one)) for one in (*around, made, change(kind))]
    found = load(files)
    if found.errors:
        assert all(one.place is not None for one in found.errors)
        return
    world = assemble(files, policy={"stack": "kueue"}).world
    while world.context.now_ms < 60_000:
        run_tick(world)


@pytest.mark.parametrize("kind", sorted(WHOLE))
def test_a_generated_name_is_taken_as_a_given_one_is(kind):
    named = headed(kind, copy.deepcopy(WHOLE[kind]))
    generated = copy.deepcopy(named)
    generated["metadata"]["generateName"] = generated["metadata"].pop("name")
    assert complaints(generated) == complaints(named)


def complaints(made: dict[str, Any]) -> list[str]:
    return [one.place.field for one in load([("a.yaml", json.dumps(made))]).errors]


FAILURES = "spec.podFailurePolicy.rules[0]"


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"action": "Count", "onExitCodes": {"values": [1]}}, "onExitCodes.operator"),
        ({"onExitCodes": {"operator": "In", "values": [1]}}, "action"),
        ({"action": "Retry"}, "action"),
    ],
)
def test_a_rule_of_failures_without_what_it_needs_is_refused(rule, field):
    spec = job("j")["spec"] | {"podFailurePolicy": {"rules": [rule]}}
    assert complaints(headed("Job", {"spec": spec})) == [f"{FAILURES}.{field}"]


def rollout(surge: Any) -> dict[str, Any]:
    return {"strategy": {"rollingUpdate": {"maxSurge": surge}}}


SURGE = "spec.strategy.rollingUpdate.maxSurge"


@pytest.mark.parametrize(
    ("surge", "refused"),
    [(one, [SURGE]) for one in ("abc", "x%", "1.5%", "3", -1, "-10%", 1.5, True)]
    + [(one, []) for one in (0, 3, "25%", "150%")],
)
def test_a_surge_is_a_count_or_whole_percent(surge, refused):
    made = headed("Deployment", {"spec": LABELLED | rollout(surge)})
    assert complaints(made) == refused


@pytest.mark.parametrize(
    ("patch", "field"),
    [
        ({"spec": rollout("abc")}, SURGE),
        ({"spec": {"template": None}}, "spec.template"),
        ({"spec": {"replicas": -1}}, "spec.replicas"),
        ({"spec": None}, "spec"),
    ],
)
def test_a_change_to_what_no_object_may_be_is_refused_when_it_is_given(patch, field):
    made = change("Deployment")
    made["spec"]["patch"] = patch
    assert complaints(made) == [f"spec.patch.{field}"]


def test_a_budget_that_is_no_share_names_file_line_and_field():
    text = (
        "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec:\n"
        "  minAvailable: most\n"
    )
    [error] = load([("file", text)]).errors
    wanted = 'spec.minAvailable: expected a number or a percentage such as "50%"'
    assert str(error).startswith(f"file:5: {wanted}")


@pytest.mark.parametrize(
    ("doing", "field"),
    [
        ({"patch": {"data": {"queues.yaml": ""}}}, "spec.patch.data.queues.yaml"),
        ({"patch": {"data": {"queues.yaml": None}}}, "spec.patch.data.queues.yaml"),
        ({"delete": True}, "spec.delete"),
        (
            {
                "patch": {
                    "data": {"k.yaml": "apiVersion: config.kueue.x-k8s.io/v1beta2"}
                }
            },
            "spec.patch.data.k.yaml",
        ),
        ({"patch": {"data": {"notes": "o"}}, "queues": {}}, "spec.queues"),
    ],
)
def test_a_change_of_a_schedulers_files_that_no_run_follows_is_refused(doing, field):
    made = change("ConfigMap")
    made["spec"] = {"target": {**made["spec"]["target"], "name": YUNIKORN}, **doing}
    assert complaints(made)[0] == field


def test_a_change_of_queues_that_do_not_read_so_is_refused():
    made = change("ConfigMap")
    made["spec"]["patch"] = {"data": {"queues.yaml": "partitions: 1"}}
    assert complaints(made)


def test_a_change_of_a_configuration_is_refused_with_what_to_do_instead():
    assert complaints(change("Configuration")) == ["spec.target.kind"]


def test_a_change_of_another_config_map_is_taken():
    made = change("ConfigMap")
    made["spec"]["patch"] = {"data": {"notes": "other"}}
    assert complaints(made) == []


YUNIKORN = "yunikorn-configs"


def test_an_object_that_is_wrapped_is_refused_by_its_place():
    spec = {"template": {"spec": {"containers": [{"image": "a"}]}}}
    inside = job("j") | {"spec": spec}
    made = headed("AppWrapper", {"spec": {"components": [{"template": inside}]}})
    within = "spec.components[0].template.spec.template.spec.containers[0].name"
    assert complaints(made) == [within]


def test_memory_of_java_that_is_none_is_refused_by_who_asks_for_it():
    spec = {"driver": {"memory": "much"}, "executor": {}}
    assert complaints(headed("SparkApplication", {"spec": spec})) == ["spec.driver"]


def test_a_count_of_a_podset_of_an_app_wrapper_is_checked_before_pods_are_made():
    made = headed("AppWrapper", copy.deepcopy(WHOLE["AppWrapper"]))
    counted = {"path": "template.spec.template", "replicas": ""}
    made["spec"]["components"][0]["podSets"] = [counted]
    assert complaints(made)[0] == "spec.components[0].podSets[0].replicas"
