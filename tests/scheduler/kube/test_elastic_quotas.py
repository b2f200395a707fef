"""Namespaces borrow what others leave, and what is theirs is taken back for them."""

from __future__ import annotations

from scheduler.model.decisions import Preempt
from tests.scheduler.kube.rig import Rig, node, pod, profile

ENABLED = [{"name": "CapacityScheduling"}]
ON = {
    "profiles": [
        profile(
            plugins={
                "multiPoint": {"enabled": ENABLED},
                "postFilter": {"enabled": ENABLED, "disabled": [{"name": "*"}]},
            }
        )
    ]
}


def quota(namespace, minimum, maximum=None):
    spec = {"min": {"cpu": str(minimum), "memory": "100Gi"}}
    if maximum is not None:
        spec["max"] = {"cpu": str(maximum), "memory": "100Gi"}
    metadata = {"name": "quota", "namespace": namespace}
    return {"kind": "ElasticQuota", "metadata": metadata, "spec": spec}


def of(namespace, name, **more):
    made = pod(name, **more)
    made["metadata"]["namespace"] = namespace
    return made


def shared(*manifests, cpu=8):
    return Rig(node("n0", cpu=cpu), *manifests, configuration=ON)


def test_a_namespace_has_no_more_than_its_max():
    rig = shared(quota("a", 2, 3), quota("b", 6))
    for index in range(4):
        rig.put(of("a", f"p{index}"))
    rig.settle()
    assert len(rig.places()) == 3
    (said,) = rig.pending().values()
    start = "0/1 nodes are available: Pod a/p3 is rejected in PreFilter because"
    assert said.startswith(f"{start} ElasticQuota a is more than Max.")


def test_all_together_have_no_more_than_the_sum_of_min():
    rig = shared(quota("a", 2), quota("b", 2))
    for index in range(5):
        rig.put(of("a", f"p{index}"))
    rig.settle()
    assert len(rig.places()) == 4
    (said,) = rig.pending().values()
    assert "because total ElasticQuota used is more than min." in said


def test_what_was_borrowed_is_taken_back_whatever_the_priority():
    rig = shared(quota("a", 2), quota("b", 2))
    for index in range(4):
        rig.put(of("a", f"p{index}", priority=100))
    rig.settle()
    rig.put(of("b", "q0"))
    rig.put(of("b", "q1"))
    rig.put(of("b", "q2"))
    rig.run(40_000)
    names = sorted(rig.places())
    assert [name[0] for name in names] == ["p", "p", "q", "q"]
    removals = [one for one in rig.decisions if isinstance(one, Preempt)]
    assert {one.strategy for one in removals} == {"CapacityScheduling"}


def test_beyond_its_own_a_namespace_takes_from_its_lower_pods_only():
    rig = shared(quota("a", 1), quota("b", 3))
    rig.put(of("b", "b0"))
    rig.put(of("b", "b1"))
    rig.put(of("a", "low"))
    rig.put(of("a", "other"))
    rig.settle()
    assert len(rig.places()) == 4
    rig.put(of("a", "high", priority=10))
    rig.run(40_000)
    assert {"b0", "b1", "high"} < set(rig.places())


def test_pods_without_a_quota_keep_to_themselves():
    rig = shared(quota("a", 2), cpu=2)
    rig.put(of("a", "p0"))
    rig.put(of("free", "low"))
    rig.settle()
    rig.put(of("free", "high", priority=10))
    rig.run(40_000)
    assert sorted(rig.places()) == ["high", "p0"]


def test_a_quota_that_grows_wakes_who_waited_for_it():
    rig = shared(quota("a", 1, 1), of("a", "p0"), of("a", "p1"))
    rig.settle()
    assert list(rig.places()) == ["p0"]
    rig.put(quota("a", 2, 2))
    rig.run(40_000)
    assert sorted(rig.places()) == ["p0", "p1"]


def test_a_pod_takes_back_what_is_its_own_after_an_equal_one_without_a_quota_failed():
    rig = shared(quota("a", 1), quota("b", 3), quota("c", 4), cpu=4)
    for name in ("a0", "a1", "b0", "b1"):
        rig.put(of(name[0], name))
    rig.settle()
    assert len(rig.places()) == 4
    rig.put(of("free", "f0"))
    rig.put(of("c", "z0"))
    rig.run(40_000)
    assert {"b0", "b1", "z0"} < set(rig.places())
