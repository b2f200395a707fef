"""Time never stands still: not for quota that goes round in a circle, nor for a timer."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import sandbox
from scheduler.analysis.experiments.bases import FileBase
from scheduler.analysis.experiments.document import read_experiment
from scheduler.analysis.experiments.runs import plan, run
from scheduler.assembly import assemble
from scheduler.engine.kube.cache.pod_group import OLD_MINIMUM_LABEL
from scheduler.engine.tick import next_instant, simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Replace
from scheduler.model.errors import NoProgressError
from scheduler.model.latencies import Latencies
from scheduler.model.pod import OLD_GROUP_LABEL
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    small_cluster,
    workload_priority,
    world_of,
)
from tests.scheduler.autoscaling.test_node_groups import group
from tests.scheduler.autoscaling.test_provisioning_requests import checked, config
from tests.scheduler.kube.rig import GANG_PLUGINS, profile
from tests.scheduler.multikueue.builders import check_of, worker
from tests.scheduler.test_topology import HOST, topology

SCENARIO = Path(sandbox.__file__).parent / "scenarios" / "friday-rush"


def test_workloads_that_take_quota_from_each_other_in_turn_let_time_go_on() -> None:
    files = [(file.name, file.read_text()) for file in sorted(SCENARIO.iterdir())]
    base = FileBase.read(files)
    spec = {
        "base": {"scenario": "friday-rush"},
        "horizon": "60s",
        "seeds": [1],
        "variants": [{"name": "a rush", "arrivals": 1.5}],
    }
    todo = plan(read_experiment({"spec": spec}).spec, base)
    found = run(base, todo, 0, 1)
    assert found.end_ms == 60_000
    assert any(
        "in turn at one instant" in problem for problem in map(str, found.problems)
    )


# Worlds of every feature, drawn at random: time never stands still at an instant.

USUALLY = None  # the policy says nothing: steps take the time that they usually take
INSTANTLY = msgspec.to_builtins(Latencies())
FEATURES = st.sets(
    st.sampled_from(
        [
            "topology",
            "provisioning",
            "workers",
            "pods ready",
            "fair",
            "fair within",
            "elastic",
            "reclaim",
            "classes",
            "node groups",
        ]
    )
)
NODE_EDITS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["fail", "drain", "recover", "cordon"]),
        st.sampled_from(["1200ms", "10s", "30s", "31s"]),
    ),
    max_size=3,
)
JOBS = st.lists(
    st.tuples(
        st.integers(1, 4),  # pods
        st.integers(1, 3),  # cpu of each
        st.sampled_from(["0s", "1s", "1500ms", "9s"]),
        st.sampled_from(["2s", "20s", "70s"]),
    ),
    min_size=1,
    max_size=6,
)


def kueue_world(latencies, features, jobs, edits, seed) -> World:
    """Return a world of Kueue and kube-scheduler with these features."""
    quota = cluster_queue("main", cpu=8, cohort="c")
    rules = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
    if features & {"reclaim", "classes"}:
        quota["spec"]["preemption"] = rules
    flavors = flavor(pool="a")
    checks = []
    others = [cluster_queue("other", cpu=2, cohort="c", reclaim="Any")]
    if "topology" in features:
        flavors["spec"]["topologyName"] = "racks"
        others.append(topology("rack", HOST))
    if "provisioning" in features:
        checks.append("capacity")
        others += [config(), *_check()]
    if "node groups" in features:
        others.append(group(labels={"pool": "a", "rack": "r9"}))
    if "workers" in features:
        checks.append("mk")
        others += [*check_of("w"), *worker("w", cpu=4)]
    if checks:
        named = [{"name": name} for name in checks]
        quota["spec"]["admissionChecksStrategy"] = {"admissionChecks": named}
    kueue = {}
    if "pods ready" in features:
        kueue["waitForPodsReady"] = {"timeout": "5s", "blockAdmission": True}
    if "fair" in features:
        kueue["fairSharing"] = {}
    if "fair within" in features:
        kueue["admissionFairSharing"] = {
            "usageHalfLifeTime": "60s",
            "usageSamplingInterval": "10s",
        }
    simulation = {} if latencies is None else {"latencies": latencies}
    nodes = [
        node(f"n{n}", cpu=4, pool="a", rack=f"r{n % 2}", **{HOST: f"n{n}"})
        for n in range(3)
    ]
    made = [_job(features, number, *given) for number, given in enumerate(jobs)]
    manifests = [
        *(flavors, quota, *others, workload_priority("high", 100)),
        *(local_queue(q, cluster_queue=q) for q in ("main", "other")),
        *(*nodes, *made),
        *(_edit(number, *given) for number, given in enumerate(edits)),
    ]
    text = "\n---\n".join(yaml.safe_dump(one) for one in manifests)
    policy = {"kueue": kueue, "simulation": simulation}
    return assemble([("world.yaml", text)], seed=seed, policy=policy).world


def _check():
    return [one for one in checked() if one["kind"] == "AdmissionCheck"]


def _job(features, number, pods, cpu, arrival, runtime):
    high = "high" if "classes" in features and number % 2 else ""
    made = job(
        f"j{number}",
        queue="other" if "reclaim" in features and number % 3 == 2 else "main",
        cpu=cpu,
        parallelism=pods,
        priority_class=high,
        arrival=arrival,
        runtime=runtime,
    )
    annotations = made["metadata"]["annotations"]
    if "elastic" in features and number % 2:
        annotations["kueue.x-k8s.io/elastic-job"] = "true"
    elif "topology" in features:
        template = made["spec"]["template"]
        wish = "required" if number % 2 else "preferred"
        asked = {f"kueue.x-k8s.io/podset-{wish}-topology": "rack"}
        template["metadata"] = {"annotations": asked}
    return made


def _edit(number, which, what, at):
    return {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Change",
        "metadata": {
            "name": f"c{number}",
            "annotations": {"quotalab.dev/arrival": at},
        },
        "spec": {"target": {"kind": "Node", "name": f"n{which}"}, "node": what},
    }


@pytest.mark.parametrize("latencies", [USUALLY, INSTANTLY], ids=["usual", "instant"])
@settings(max_examples=10, deadline=None)
@given(features=FEATURES, jobs=JOBS, edits=NODE_EDITS, seed=st.integers(0, 9))
def test_a_world_of_any_features_comes_to_the_end_of_its_time(
    latencies, features, jobs, edits, seed
):
    world = kueue_world(latencies, features, jobs, edits, seed)
    simulate(world, until_ms=240_000)
    assert (next_instant(world) or 240_001) > 240_000


GANGS = st.lists(
    st.tuples(st.sampled_from("ABC"), st.integers(1, 3), st.sampled_from(["0s", "2s"])),
    min_size=1,
    max_size=9,
)


@pytest.mark.parametrize("latencies", [USUALLY, INSTANTLY], ids=["usual", "instant"])
@settings(max_examples=10, deadline=None)
@given(GANGS, st.integers(1, 4), st.integers(0, 9))
def test_gangs_whose_pods_come_in_any_order_come_to_the_end_of_their_time(
    latencies, pods, minimum, seed
):
    made = [
        pod(
            f"p{number}",
            cpu=cpu,
            arrival=arrival,
            runtime="30s",
            labels={OLD_GROUP_LABEL: gang, OLD_MINIMUM_LABEL: str(minimum)},
        )
        for number, (gang, cpu, arrival) in enumerate(pods)
    ]
    text = "\n---\n".join(yaml.safe_dump(one) for one in [node("n"), *made])
    policy = {
        "stack": "kube",
        "kubeScheduler": {"profiles": [profile(plugins=GANG_PLUGINS)]},
        "simulation": {} if latencies is None else {"latencies": latencies},
    }
    world = assemble([("world.yaml", text)], seed=seed, policy=policy).world
    simulate(world, until_ms=120_000)
    assert (next_instant(world) or 120_001) > 120_000


def test_a_second_pass_begins_a_cycle_when_no_workload_waits():
    """The node of the only workload fails: it moves, with nobody behind it."""
    jobs = [(1, 1, "1s", "600s")]
    before = kueue_world(USUALLY, {"topology"}, jobs, [], seed=1)
    simulate(before, until_ms=20_000)
    [place] = [before.get(key).spec["nodeName"] for key in before.keys("Pod")]
    edits = [(int(place.removeprefix("n")), "fail", "30s")]
    world = kueue_world(USUALLY, {"topology"}, jobs, edits, seed=1)
    found = simulate(world, until_ms=60_000).decisions
    assert [d.at_ms for d in found if isinstance(d, Replace)] == [31_350]


class Restless:
    """A stage that is due at once, whatever is done."""

    name = "restless"

    def due(self) -> int:
        return 0

    def awaited(self) -> str:
        return "what nobody brings"


def test_an_instant_that_never_ends_is_an_error_that_names_the_stage(monkeypatch):
    world = world_of(*small_cluster())
    own = world.stages
    monkeypatch.setattr(world, "stages", lambda: iter([*own(), Restless()]))
    with pytest.raises(NoProgressError, match="restless waits for what nobody brings"):
        simulate(world, until_ms=1_000)
