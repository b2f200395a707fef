"""A topology that does not fit: where the search went, and what is tried instead."""

from __future__ import annotations

from typing import Any

from scheduler.analysis.explain.counterfactuals import counterfactuals
from scheduler.analysis.explain.workloads import explain
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from tests.builders import cluster_queue, flavor, job, local_queue, node, world_of

HOST = "kubernetes.io/hostname"


def two_racks_of_four() -> World:
    made = job("train", queue="main", arrival="1s", runtime="1h", parallelism=6)
    annotations = {"kueue.x-k8s.io/podset-required-topology": "rack"}
    made["spec"]["template"]["metadata"] = {"annotations": annotations}
    levels: dict[str, Any] = {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": HOST}]}
    hosts = [node(f"{rack}-1", rack=rack, pool="main") for rack in ("ra", "rb")]
    for each in hosts:
        each["metadata"]["labels"][HOST] = each["metadata"]["name"]
    return world_of(
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Topology",
            "metadata": {"name": "racks"},
            "spec": levels,
        },
        {**flavor(), "spec": {"nodeLabels": {"pool": "main"}, "topologyName": "racks"}},
        cluster_queue("main", cpu=100),
        local_queue("main", cluster_queue="main"),
        *hosts,
        made,
    )


def test_a_rack_that_is_preferred_instead_of_required_is_really_tried():
    world = two_racks_of_four()
    simulate(world, until_ms=2_000)
    (key,) = world.keys("Workload")
    found = {v.id: v for v in counterfactuals(world, key, horizon_ms=60_000).verdicts}
    preferred = found["topology/preferred"]
    assert preferred.verdict == "yes"
    assert "rack is preferred instead of required" in preferred.subject


def test_an_explanation_says_level_by_level_what_fits_and_why_not_there():
    world = two_racks_of_four()
    simulate(world, until_ms=2_000)
    (key,) = world.keys("Workload")
    found = explain(world, key)
    search = next(search for search in found.topology if not search.empty)
    assert "allows to fit only 4 out of 6 pod(s)" in search.reason
    racks, hosts = search.levels
    assert (racks.level, racks.requested, racks.needed) == ("rack", True, 6)
    assert [(d.path, d.fits, d.why) for d in racks.domains] == [
        ("ra", 4, "4 of 6 pods fit"),
        ("rb", 4, "4 of 6 pods fit"),
    ]
    assert [d.path for d in hosts.domains] == ["ra/ra-1", "rb/rb-1"]
    assert "No domain of rack takes the 6 pods of main" in " ".join(found.sentences)
