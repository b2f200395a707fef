"""An import takes the release that a cluster's controllers say they are of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler.assembly import assemble
from scheduler.input.files.unpacking import is_read
from scheduler.model.releases.release import NO_RELEASE, Release
from tests.builders import assembled, job, small_cluster


def controller(image: str, **labels: str) -> dict[str, Any]:
    labels = {f"app.kubernetes.io/{name}": value for name, value in labels.items()}
    pod = {"containers": [{"name": "manager", "image": image}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "manager", "namespace": "kueue-system", "labels": labels},
        "spec": {
            "selector": {"matchLabels": {"app": "m"}},
            "template": {"metadata": {"labels": {"app": "m"}}, "spec": pod},
        },
    }


def taken(*manifests: dict[str, Any], **policy: Any) -> tuple[Release, list[str]]:
    made = assembled(*small_cluster(), *manifests, **policy)
    said = [f.problem for f in made.loaded.findings if "runs there" in f.problem]
    return made.world.policy.spec.decides_as(), said


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("registry.k8s.io/kueue/kueue:v0.17.3", Release(kueue="0.17.3")),
        ("registry.example.com/kueue:v0.19.1-patched", Release(kueue="0.19.1")),
        ("registry.k8s.io/kube-scheduler:v1.34.2", Release(kubernetes="1.34.2")),
        ("apache/yunikorn:scheduler-1.8.0", Release(yunikorn="1.8.0")),
    ],
)
def test_the_tag_of_a_controllers_image_is_its_release(image, release):
    assert taken(controller(image))[0] == release


@pytest.mark.parametrize(
    "spec", [[1], "x", {"template": 5}, {"containers": 5}, {"containers": [5]}]
)
def test_a_pod_of_another_group_may_have_any_shape(spec):
    strange = {
        "apiVersion": "example.com/v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": spec,
    }
    assert taken(strange) == (NO_RELEASE, [])


def test_the_label_of_a_controller_is_its_release():
    mine = controller("example.com/mirror@sha256", name="kueue", version="v0.18.2")
    assert taken(mine)[0] == Release(kueue="0.18.2")


def test_what_was_taken_is_said():
    _, said = taken(controller("registry.k8s.io/kueue/kueue:v0.17.3"))
    [one] = said
    assert one.startswith("Kueue 0.17.3 runs there, so its decisions are taken")


def test_a_release_that_is_not_known_is_said_and_not_taken():
    release, said = taken(controller("registry.k8s.io/kueue/kueue:v0.9.1"))
    assert release == NO_RELEASE
    assert "which is not known here" in said[0]


def test_a_release_that_is_given_counts_more():
    mine = controller("registry.k8s.io/kueue/kueue:v0.17.3")
    assert taken(mine, release={"kueue": "0.19.2"}) == (Release(kueue="0.19.2"), [])


@pytest.mark.parametrize(
    "image", ["busybox:1.36.1", "example.com/kueue:latest", "kueue"]
)
def test_other_images_say_nothing(image):
    assert taken(controller(image)) == (NO_RELEASE, [])


def test_what_only_a_gate_of_the_release_lets_count_is_named():
    elastic = job("j", queue="main")
    elastic["metadata"]["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}

    def said(**policy: Any) -> bool:
        made = assembled(*small_cluster(), elastic, **policy)
        return any("elastic-job" in str(one) for one in made.loaded.findings)

    assert [said(release={"kueue": v}) for v in ("0.17.0", "0.18.0")] == [True, False]
    assert not said()


METRICS = """# TYPE kueue_build_info gauge
kueue_build_info{build_date="2025-01-01",git_commit="abc",git_version="v0.17.3"} 1
kueue_pending_workloads{cluster_queue="main"} 3
"""


def with_metrics(text: str) -> tuple[Release, list[str]]:
    files = [
        ("w.json", json.dumps({"kind": "List", "items": small_cluster()})),
        ("metrics-0.txt", text),
    ]
    made = assemble(files, newest=False)
    findings = made.loaded.findings
    said = [f"{f.place.file}:{f.place.line}: {f.problem}" for f in findings]
    return made.world.policy.spec.decides_as(), said


def test_what_metrics_say_of_the_manager_is_its_release():
    release, said = with_metrics(METRICS)
    assert release == Release(kueue="0.17.3")
    [one] = said
    assert one.startswith("metrics-0.txt:2: Kueue 0.17.3 runs there, so its decisions")


def test_metrics_of_something_else_are_said_not_to_be_read():
    release, said = with_metrics("up 1\n")
    assert release == NO_RELEASE
    assert "metrics-0.txt:1: " in said[0]


@pytest.mark.parametrize(
    ("name", "read"),
    [("a/metrics.txt", True), ("kueue.prom", True), ("notes.txt", False)],
)
def test_a_file_of_metrics_is_read_by_its_name(name, read):
    assert is_read(name) is read
