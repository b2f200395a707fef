"""Runs of variants: what a variant changes, and that a run is had again."""

from __future__ import annotations

import pytest
import yaml

from scheduler.analysis.experiments.bases import FileBase, WorldBase
from scheduler.analysis.experiments.document import Variant, read_experiment
from scheduler.analysis.experiments.runs import (
    CancelledError,
    Plan,
    plan,
    run,
    world_at,
)
from scheduler.engine.tick import run_tick
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from tests.builders import cluster_queue, flavor, job, local_queue, small_cluster

VARIANT = Variant(name="base")
QUEUE = Key("ClusterQueue", "", "main")
NOMINAL = "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota"


def files_of(*manifests) -> list[tuple[str, str]]:
    return [("world.yaml", yaml.safe_dump_all(manifests))]


def base_of(*manifests) -> FileBase:
    return FileBase.read(files_of(*manifests))


def small_base() -> FileBase:
    jobs = [
        job(
            f"job-{n}",
            queue="main",
            cpu=1 + n % 3,
            arrival=f"{n}s",
            runtime="exp(7s)",
        )
        for n in range(12)
    ]
    return base_of(*small_cluster(cpu=4), *jobs)


def plan_of(*variants: Variant, horizon_ms: int = 60_000) -> Plan:
    found = list(variants) or [VARIANT]
    return Plan(variants=found, seeds=[1], horizon_ms=horizon_ms, limit_ms=10_000)


def test_a_run_is_had_again_number_by_number():
    base, todo = small_base(), plan_of()
    assert run(base, todo, 0, 5) == run(base, todo, 0, 5)


def test_another_seed_is_another_run():
    base, todo = small_base(), plan_of()
    assert run(base, todo, 0, 5).hash != run(base, todo, 0, 6).hash


@pytest.mark.parametrize("horizon_ms", [8_000, 8_300, 600_000], ids=str)
def test_a_run_ends_where_ticks_would_have_brought_it(horizon_ms):
    base = small_base()
    found = run(base, plan_of(horizon_ms=horizon_ms), 0, 3)
    world = base.world(VARIANT, 3)
    for _ in range(found.tick):
        run_tick(world)
        world.take()
    assert (found.hash, found.end_ms) == (world.hash(), world.context.now_ms)


@pytest.mark.parametrize("tick", [0, 1, 9, 300])
def test_a_run_is_opened_at_any_tick(tick):
    base, todo = small_base(), plan_of()
    opened = world_at(base, todo, 0, 3, tick)
    world = base.world(VARIANT, 3)
    world.take()
    for _ in range(tick):
        run_tick(world)
        world.take()
    assert (opened.tick, opened.hash()) == (tick, world.hash())


def test_a_variant_patches_the_policy():
    variant = Variant(name="v", policy={"simulation": {"podStartMs": 250}})
    world = small_base().world(variant, 1)
    assert world.policy.spec.simulation.pod_start_ms == 250


def test_a_variant_sets_a_field_of_an_object():
    variant = read_variant(
        objects=[{"object": "ClusterQueue/main", "set": {NOMINAL: 9}}]
    )
    world = small_base().world(variant, 1)
    [group] = world.objects[QUEUE].spec["resourceGroups"]
    assert group["flavors"][0]["resources"][0]["nominalQuota"] == 9


def test_a_variant_patches_deletes_and_creates_objects():
    variant = read_variant(
        objects=[
            {"object": "ClusterQueue/main", "patch": {"spec": {"cohortName": "all"}}},
            {"object": "Job/default/job-3", "delete": True},
            {"create": cluster_queue("other", cohort="all")},
        ]
    )
    world = small_base().world(variant, 1)
    assert world.objects[QUEUE].spec["cohortName"] == "all"
    assert Key("Job", "default", "job-3") not in world.objects
    assert Key("ClusterQueue", "", "other") in world.objects


def test_twice_the_arrivals_come_in_half_the_time():
    variant = Variant(name="v", arrivals=2.0)
    world = small_base().world(variant, 1)
    key = Key("Job", "default", "job-6")
    assert world.lifetime.future[key] == 3_000


def read_variant(**change) -> Variant:
    spec = {"base": {"files": ["f"]}, "variants": [{"name": "v", **change}]}
    return read_experiment({"kind": "Experiment", "spec": spec}).spec.variants[0]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"object": "ClusterQueue/none", "delete": True}, id="not there"),
        pytest.param(
            {"object": "ClusterQueue/main", "set": {"spec.x[7]": 1}}, id="no such item"
        ),
        pytest.param(
            {"object": "ClusterQueue/main", "set": {NOMINAL: "two"}}, id="no quantity"
        ),
        pytest.param({"object": "main", "delete": True}, id="no kind"),
    ],
)
def test_a_change_that_cannot_be_is_an_error(change):
    with pytest.raises(SchedulerError):
        small_base().world(read_variant(objects=[change]), 1)


def in_the_middle() -> WorldBase:
    world = small_base().world(VARIANT, 3)
    for _ in range(4):
        run_tick(world)
    world.take()
    return WorldBase(world.encode())


def test_a_world_in_the_middle_goes_on_as_it_would_have():
    found = run(in_the_middle(), plan_of(horizon_ms=56_000), 0, 3)
    whole = run(small_base(), plan_of(horizon_ms=60_000), 0, 3)
    assert (found.hash, found.tick) == (whole.hash, whole.tick)


def test_the_future_of_a_world_in_the_middle_comes_sooner():
    world = in_the_middle().world(Variant(name="v", arrivals=2.0), 3)
    assert world.lifetime.future[Key("Job", "default", "job-8")] == 6_000


def test_a_world_in_the_middle_is_edited():
    variant = read_variant(
        policy={"simulation": {"podStartMs": 1}},
        objects=[{"object": "ClusterQueue/main", "set": {NOMINAL: "1"}}],
    )
    world = in_the_middle().world(variant, 3)
    [group] = world.objects[QUEUE].spec["resourceGroups"]
    assert group["flavors"][0]["resources"][0]["nominalQuota"] == "1"
    assert world.policy.spec.simulation.pod_start_ms == 1


def test_a_run_that_nobody_wants_any_more_is_given_up():
    with pytest.raises(CancelledError):
        run(small_base(), plan_of(), 0, 1, keep_on=lambda: False)


def test_the_horizon_of_a_scenario_is_its_own():
    scenario = {
        "kind": "Scenario",
        "apiVersion": "quotalab.dev/v1",
        "metadata": {"name": "s"},
        "spec": {
            "title": {"en": "t"},
            "summary": {"en": "s"},
            "seed": 8,
            "horizon": "90s",
        },
    }
    base = base_of(scenario, flavor(), cluster_queue("main"))
    spec = read_experiment({"kind": "Experiment", "spec": {"base": {"files": ["f"]}}})
    found = plan(spec.spec, base)
    assert (found.horizon_ms, found.seeds) == (90_000, [8])


def test_what_is_prepared_stays_as_it_is():
    base = base_of(*small_cluster(), local_queue("more", cluster_queue="main"))
    variant = read_variant(
        objects=[{"object": "LocalQueue/default/more", "delete": True}]
    )
    assert (
        len(base.world(variant, 1).objects) == len(base.world(VARIANT, 1).objects) - 1
    )


def test_a_run_time_that_the_policy_reads_is_not_said_to_be_assumed():
    sleeping = job("train", queue="main")
    (container,) = sleeping["spec"]["template"]["spec"]["containers"]
    container["command"] = ["sleep", "300"]
    policy = {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Policy",
        "spec": {"simulation": {"runTimesFrom": "sleep"}},
    }
    said = base_of(*small_cluster(), sleeping, policy).assumed(1)
    assert said == ["1 Job takes its run time from its command"]
