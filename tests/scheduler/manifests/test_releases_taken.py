"""An import takes the release that a cluster's controllers say they are of."""

from __future__ import annotations

from typing import Any

import pytest

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
