"""Why a pod waits, when an extender refuses what the filters accept."""

from __future__ import annotations

from scheduler.analysis.explain.pods import explain_pod
from scheduler.engine.tick import simulate
from scheduler.model.objects import Key
from tests.builders import node, pod, world_of


def test_a_node_that_an_extender_refuses_would_not_take_the_pod():
    refused = dict.fromkeys(("n1", "n2", "n3"), "no driver")
    world = world_of(
        *(node(name) for name in refused),
        pod("a"),
        stack="kube",
        kubeScheduler={
            "extenders": [{"urlPrefix": "http://gpu.example", "filterVerb": "filter"}]
        },
        simulation={
            "extenders": [{"urlPrefix": "http://gpu.example", "refuse": refused}]
        },
    )
    simulate(world, until_ms=1_000)
    found = explain_pod(world, Key("Pod", "default", "a"))
    assert found.feasible == 0
    assert {row.node: row.reasons for row in found.nodes} == {
        name: ["no driver"] for name in refused
    }
    assert not any("would take" in sentence for sentence in found.sentences)
