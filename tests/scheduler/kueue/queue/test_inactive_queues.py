"""Why a ClusterQueue admits nothing, word by word."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduler.kueue.rig import Rig

MULTI = "kueue.x-k8s.io/multikueue"
PROVISIONING = "kueue.x-k8s.io/provisioning-request"
ACTIVE = {"conditions": [{"type": "Active", "status": "True"}]}


def verdict(
    checks: dict[str, str], *asked: dict[str, Any], status: Any = ACTIVE, **spec: Any
) -> tuple[str, str, str]:
    """Return status, reason and message of a queue that asks for these checks."""
    rig = Rig()
    for name, controller in checks.items():
        rig.put(
            "AdmissionCheck",
            name,
            {"controllerName": controller},
            namespace="",
            status=status,
        )
    rig.queue("q", 2)
    key = next(key for key in rig.objects if key.kind == "ClusterQueue")
    rig.edit(key, admissionChecksStrategy={"admissionChecks": [*asked]}, **spec)
    rig.run(0)
    (condition,) = rig.status("ClusterQueue", "q")["conditions"]
    return condition["status"], condition["reason"], condition["message"]


def asks(name: str, *flavors: str) -> dict[str, Any]:
    return {"name": name, **({"onFlavors": list(flavors)} if flavors else {})}


@pytest.mark.parametrize(
    ("checks", "asked", "reason", "message"),
    [
        pytest.param(
            {"m2": MULTI, "m1": MULTI},
            [asks("m2"), asks("m1")],
            "MultipleMultiKueueAdmissionChecks",
            "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, "
            "found: m1,m2",
            id="two of MultiKueue",
        ),
        pytest.param(
            {"m": MULTI, "p2": PROVISIONING, "p1": PROVISIONING},
            [asks("m"), asks("p2"), asks("p1")],
            "MultiKueueWithProvisioningRequest",
            "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks "
            "together, found: m, p1,p2",
            id="MultiKueue beside provisioning",
        ),
        pytest.param(
            {"here": "c"},
            [asks("here"), asks("gone"), asks("away")],
            "AdmissionCheckNotFound",
            "references missing AdmissionCheck(s): away,gone",
            id="checks that do not exist",
        ),
    ],
)
def test_a_queue_names_the_checks_that_keep_it_from_admitting(
    checks, asked, reason, message
):
    found = verdict(checks, *asked)
    assert found == ("False", reason, f"Can't admit new workloads: {message}.")


def test_a_queue_names_the_checks_whose_controller_is_away():
    away = {"conditions": [{"type": "Active", "status": "False"}]}
    found = verdict({"b": "c", "a": "c"}, asks("b"), asks("a"), status=away)
    sentence = "references inactive AdmissionCheck(s): a,b"
    assert found[1:] == (
        "AdmissionCheckInactive",
        f"Can't admit new workloads: {sentence}.",
    )


def test_multi_kueue_is_asked_for_in_all_flavors_or_in_none():
    rig_groups = [
        {
            "coveredResources": ["cpu"],
            "flavors": [
                {"name": name, "resources": [{"name": "cpu", "nominalQuota": 2}]}
                for name in ("f", "g")
            ],
        }
    ]
    found = verdict({"m": MULTI}, asks("m", "f"), resourceGroups=rig_groups)
    assert found[1] == "FlavorNotFound"
    assert found[2] == (
        "Can't admit new workloads: references missing ResourceFlavor(s): g, Cannot "
        "specify MultiKueue AdmissionCheck per flavor, found: m."
    )


def test_a_queue_gives_every_reason_and_the_first_names_it():
    found = verdict({}, asks("gone"), stopPolicy="Hold")
    assert found == (
        "False",
        "Stopped",
        "Can't admit new workloads: is stopped, references missing AdmissionCheck(s): "
        "gone.",
    )
