"""What admission does to pods before a scheduler sees them, whatever the stack."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.assembly import InputError
from scheduler.engine.lifetime.admission import apply_limit_ranges
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key, Object
from tests.builders import job, node, pod, world_of

Manifest = dict[str, Any]


def runtime_class(**more: Any) -> Manifest:
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "sandboxed"},
        "handler": "kata",
        **more,
    }


def limit_range(**item: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "bounds", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", **item}]},
    }


def in_runtime_class(made: Manifest) -> Manifest:
    made["spec"]["runtimeClassName"] = "sandboxed"
    return made


def requests_of(world: World, name: str) -> Manifest:
    key = Key("Pod", "default", name)
    found: Manifest = world.get(key).spec["containers"][0]["resources"]["requests"]
    return found


def without_requests(made: Manifest) -> Manifest:
    made["spec"]["containers"][0].pop("resources")
    return made


def put(world: World, manifest: Manifest) -> None:
    key = Key("Pod", "default", manifest["metadata"]["name"])
    world.put(Object(key=key, manifest=manifest))


def bound(world: World, until_s: int = 5) -> dict[str, str]:
    simulate(world, until_ms=until_s * 1000)
    return {
        key.name: world.get(key).spec.get("nodeName", "") for key in world.keys("Pod")
    }


def test_overhead_of_the_runtime_class_takes_its_place_on_the_node() -> None:
    kata = runtime_class(overhead={"podFixed": {"cpu": "1"}})
    pods = [in_runtime_class(pod(name, cpu=1)) for name in ("a", "b")]
    world = world_of(node("n", cpu=3), kata, *pods, stack="kube")
    assert bound(world) == {"a": "n", "b": ""}


def test_a_runtime_class_keeps_its_pods_to_its_nodes() -> None:
    kata = runtime_class(scheduling={"nodeSelector": {"kata": "yes"}})
    nodes = [node("plain", cpu=8), node("prepared", cpu=2, kata="yes")]
    world = world_of(*nodes, kata, in_runtime_class(pod("a")), stack="kube")
    assert bound(world) == {"a": "prepared"}


def test_a_job_whose_runtime_class_is_missing_makes_no_pod_and_says_so() -> None:
    made = job("j", queue="")
    made["metadata"].pop("labels", None)
    made["spec"]["template"]["spec"]["runtimeClassName"] = "sandboxed"
    world = world_of(node("n", cpu=8), made, stack="kube")
    assert bound(world) == {}
    assert any(
        "RuntimeClass 'sandboxed' does not exist" in str(p) for p in world.problems()
    )


def test_a_pod_of_a_missing_runtime_class_is_refused_and_nothing_changes() -> None:
    world = world_of(node("n", cpu=8), stack="kube")
    before = world.encode()
    with pytest.raises(ManifestError, match="known: none"):
        put(world, in_runtime_class(pod("a")))
    assert world.encode() == before


def test_a_limit_range_fills_in_what_a_plain_pod_leaves_out() -> None:
    bounds = limit_range(default={"cpu": "2"}, defaultRequest={"cpu": "1500m"})
    plain = without_requests(pod("a"))
    world = world_of(node("n", cpu=4), bounds, plain, stack="kube")
    assert requests_of(world, "a") == {"cpu": "1500m"}


def test_pods_of_a_job_get_the_defaults_too() -> None:
    made = job("j", queue="")
    made["metadata"].pop("labels", None)
    made["spec"]["template"]["spec"]["containers"][0].pop("resources", None)
    world = world_of(
        node("n", cpu=4), limit_range(default={"cpu": "3"}), made, stack="kube"
    )
    bound(world)
    assert requests_of(world, world.keys("Pod")[0].name) == {"cpu": "3"}


@pytest.mark.parametrize(
    ("item", "given"),
    [
        pytest.param({"max": {"cpu": "4"}}, {"cpu": "4"}, id="max is the default"),
        pytest.param({"min": {"cpu": "1"}}, {"cpu": "1"}, id="min is the last resort"),
        pytest.param(
            {"min": {"cpu": "1"}, "default": {"cpu": "3"}},
            {"cpu": "3"},
            id="default comes before min",
        ),
    ],
)
def test_what_a_limit_range_leaves_out_follows_from_the_rest(
    item: Manifest, given: Manifest
) -> None:
    spec: Manifest = {"containers": [{"name": "c"}]}
    apply_limit_ranges(spec, [("bounds", limit_range(**item))])
    assert spec["containers"][0]["resources"]["requests"] == given


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ({"max": {"cpu": "2"}}, "maximum cpu usage per Container is 2"),
        ({"min": {"cpu": "8"}}, "minimum cpu usage per Container is 8"),
        ({"maxLimitRequestRatio": {"cpu": "1"}}, "but it is 1.5 times"),
    ],
)
def test_a_pod_outside_the_bounds_is_refused_with_the_bound(
    item: Manifest, problem: str
) -> None:
    resources = {"requests": {"cpu": "4"}, "limits": {"cpu": "6"}}
    spec = {"containers": [{"name": "c", "resources": resources}]}
    with pytest.raises(ManifestError, match=problem):
        apply_limit_ranges(spec, [("bounds", limit_range(**item))])


def test_bounds_for_pods_look_at_the_sum_of_the_containers() -> None:
    one = {"name": "c", "resources": {"limits": {"cpu": "3"}}}
    spec = {"containers": [dict(one), dict(one)]}
    bounds = limit_range(max={"cpu": "4"}, type="Pod")
    with pytest.raises(ManifestError, match="per Pod is 4, but the limit is 6"):
        apply_limit_ranges(spec, [("bounds", bounds)])


def test_bounds_for_pods_leave_the_overhead_out() -> None:
    one = {"name": "c", "resources": {"limits": {"cpu": "3"}}}
    spec = {"containers": [one], "overhead": {"cpu": "2"}}
    apply_limit_ranges(spec, [("bounds", limit_range(max={"cpu": "4"}, type="Pod"))])


def test_a_default_limit_below_the_request_refuses_the_pod() -> None:
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]}
    with pytest.raises(ManifestError, match="request 3 of cpu is above the limit 2"):
        apply_limit_ranges(spec, [("bounds", limit_range(default={"cpu": "2"}))])


def test_the_classes_that_every_cluster_has_need_no_object() -> None:
    made = pod("a")
    made["spec"]["priorityClassName"] = "system-node-critical"
    world = world_of(node("n"), made, stack="kube")
    assert world.get(Key("Pod", "default", "a")).spec["priority"] == 2_000_001_000


def test_a_refused_pod_of_a_file_is_a_finding_at_its_line() -> None:
    with pytest.raises(InputError, match=r"world.yaml:\d+: spec.runtimeClassName"):
        world_of(node("n"), in_runtime_class(pod("a")), stack="kube")
