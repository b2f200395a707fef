"""Settings: counted, moved between, mended; sentences: read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.analysis.advice.changes import dimension, space_of
from scheduler.analysis.advice.goal import FORMS, read_constraint, text_of
from scheduler.analysis.advice.space import Space, moves, repair, without
from scheduler.analysis.experiments.document import (
    Change,
    Constraint,
    ExperimentError,
    MayChange,
    Variant,
)
from scheduler.analysis.experiments.runs import Plan, run
from scheduler.model.objects import Key
from tests.builders import cluster_queue, flavor, local_queue, node, world_of
from tests.scheduler.advice.worlds import Team, base_of, manifests_of

TEAMS = (Team("a", 2, 1, 1, 1, 1), Team("b", 4, 1, 1, 1, 1), Team("c", 3, 1, 1, 1, 1))


def read(**change) -> MayChange:
    import msgspec

    return msgspec.convert(change, MayChange)


def space(*changes, policy=None) -> Space:
    world = base_of(*manifests_of(TEAMS)).world(Variant(name="base"), 1)
    return space_of([read(**change) for change in changes], world.objects, policy or {})


def quota(**more) -> Space:
    return space({"quota": {"flavor": "default", "resource": "cpu", "step": 1, **more}})


def test_ordered_values_that_are_no_numbers_stay_as_given():
    def made(values):
        return dimension(
            Key("policy", "", ""), "f", values, "1h", lambda _: Change(), ordered=True
        )

    assert made(["never", "1h", "10m"]).values == ("never", "1h", "10m")
    with pytest.raises(ExperimentError, match="'1h', which is there now"):
        made(["never", "10m"])


def test_settings_that_keep_a_total_are_counted_as_they_are_listed():
    assert quota().count() == len(list(quota().points())) == 55
    assert quota(total=11).count() == len(list(quota(total=11).points()))


QUOTA = quota()


@given(st.lists(st.integers(0, 9), min_size=3, max_size=3))
def test_a_mended_setting_keeps_its_total(values):
    found = QUOTA
    mended = repair(found, tuple(values))
    assert mended is not None
    assert found.valid(mended)


def test_every_move_is_a_setting_and_leads_elsewhere():
    found = quota()
    near = moves(found, found.base)
    assert all(found.valid(point) for point in near)
    assert found.base not in near
    assert all(len(found.edited(point)) == 2 for point in near)


def test_leaving_one_edit_out_gives_its_quota_back():
    found = quota()
    point = (found.base[0] + 2, found.base[1] - 1, found.base[2] - 1)
    assert without(found, point, 1) == (
        found.base[0] + 1,
        found.base[1],
        found.base[2] - 1,
    )
    assert without(found, point, 0) == found.base


@pytest.mark.parametrize(
    ("change", "texts"),
    [
        (
            {"weight": {"queues": ["a"]}},
            ["ClusterQueue/a fairSharing.weight: 1.0 → 2.0"],
        ),
        (
            {
                "preemption": {
                    "queues": ["a"],
                    "withinClusterQueue": ["LowerPriority"],
                }
            },
            ["ClusterQueue/a preemption.withinClusterQueue: Never → LowerPriority"],
        ),
        (
            {"queueingStrategy": {"queues": ["b"]}},
            ["ClusterQueue/b queueingStrategy: BestEffortFIFO → StrictFIFO"],
        ),
        (
            {"fairSharing": {}},
            ["policy kueue.fairSharing: off → LessThanOrEqualToFinalShare"],
        ),
        (
            {"priority": {"classes": ["low"], "values": [1, 5]}},
            ["WorkloadPriorityClass/low value: 1 → 5"],
        ),
        (
            {
                "borrowingLimit": {
                    "queues": ["c"],
                    "flavor": "default",
                    "resource": "cpu",
                    "values": [1],
                }
            },
            ["ClusterQueue/c borrowingLimit of cpu in default: none → 1"],
        ),
        (
            {"field": {"policy": "simulation.podStartMs", "values": [5]}},
            ["policy simulation.podStartMs: none → 5"],
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_each_kind_of_change_says_what_it_changes_and_runs(change, texts):
    found = space(change)
    other = next(point for point in moves(found, found.base))
    assert found.texts(other) == texts
    variant = found.variant(other)
    plan = Plan(variants=[variant], seeds=[1], horizon_ms=1000, limit_ms=1000)
    assert run(base_of(*manifests_of(TEAMS)), plan, 0, 1).problems == []


def test_only_one_thing_is_said_per_change():
    with pytest.raises(ExperimentError, match=r"change\[0\]: expected one of quota"):
        space({})


@pytest.mark.parametrize("text", FORMS)
def test_every_form_that_is_offered_is_understood_and_said_so_that_it_is_again(text):
    understood = read_constraint(text)
    assert read_constraint(text_of(understood)) == understood


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "queue X p95 wait under 30 s",
            Constraint(measure="queues.X.p95Ms", max=30_000),
        ),
        (
            "inference p95 wait under 30 s",
            Constraint(measure="queues.inference.p95Ms", max=30_000),
        ),
        (
            "mean wait at most 2 min",
            Constraint(measure="workloads.meanMs", max=120_000),
        ),
        (
            "no more than 2 preemptions per hour",
            Constraint(measure="preemptionsPerHour", max=2),
        ),
        (
            "nobody loses more than 10%",
            Constraint(measure="queues.*.meanMs", loses=0.1),
        ),
        (
            "utilisation of nvidia.com/gpu at least 70%",
            Constraint(measure="utilisation.nvidia.com/gpu", min=0.7),
        ),
        ("jain >= 0.8", Constraint(measure="jain", min=0.8)),
    ],
)
def test_a_sentence_is_a_bound_of_a_measure(text, expected):
    assert read_constraint(text) == expected


@pytest.mark.parametrize(
    ("measure", "text"),
    [
        ("queues.etl.meanMs", "queue etl mean wait no more than 10% worse than before"),
        ("workloads.p95Ms", "p95 wait no more than 10% worse than before"),
        ("finished", "finished no more than 10% worse than before"),
    ],
)
def test_what_may_not_be_lost_is_said_in_words(measure, text):
    assert text_of(Constraint(measure=measure, loses=0.1)) == text


def test_quota_of_what_no_node_of_its_flavor_has_is_not_offered():
    gpu = "nvidia.com/gpu"
    bare, whole = node("bare", cpu=8), node("whole", cpu=8)
    whole["status"]["allocatable"][gpu] = "8"
    queue = cluster_queue("main")
    (group,) = queue["spec"]["resourceGroups"]
    group["coveredResources"].append(gpu)
    group["flavors"][0]["resources"].append({"name": gpu, "nominalQuota": "4"})
    change = read(quota={"flavor": "default", "resource": gpu, "step": 1})
    small = [flavor(), queue, local_queue("main", cluster_queue="main"), bare]
    with pytest.raises(ExperimentError, match=f"no node of flavor default has {gpu}"):
        space_of([change], world_of(*small).objects, {})
    assert space_of([change], world_of(*small, whole).objects, {}).dimensions
