"""Documents with equal podsets hold them once, and an edit of one leaves the others."""

from __future__ import annotations

import copy

from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Policy
from tests.bench.worlds import workload


def put(world, n, **spec):
    manifest = workload(n, queues=1)
    manifest["spec"] |= spec
    name = manifest["metadata"]["name"]
    return world.put(Object(key=Key("Workload", "default", name), manifest=manifest))


def two_alike():
    world = World.create(Policy(), seed=1)
    return world, put(world, 0), put(world, 7)


def test_workloads_with_equal_podsets_hold_one_document_of_them():
    _, first, second = two_alike()
    assert first.spec["podSets"] is second.spec["podSets"]


def test_worlds_that_are_read_share_them():
    world, first, _ = two_alike()
    one, other = (World.decode(world.encode()).objects[first.key] for _ in range(2))
    assert one.spec["podSets"] is other.spec["podSets"]


def test_podsets_that_only_look_equal_stay_as_they_are():
    world, first, _ = two_alike()
    given = copy.deepcopy(first.spec["podSets"])
    given[0]["template"]["metadata"] = {"labels": {1: "a"}}
    third = put(world, 14, podSets=given)
    assert third.spec["podSets"] is given


def test_an_edit_of_one_leaves_the_other_as_it_was():
    world, _, second = two_alike()
    before = copy.deepcopy(second.spec)
    edited = copy.deepcopy(world.objects[Key("Workload", "default", "w00000")].manifest)
    edited["spec"]["podSets"][0]["count"] = 3
    world.put(Object(key=Key("Workload", "default", "w00000"), manifest=edited))
    assert second.spec == before
