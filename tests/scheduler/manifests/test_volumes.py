"""What is wrong in a claim, volume, class or CSI node is named by its field."""

from __future__ import annotations

import pytest
import yaml

from scheduler.input.manifests.load import load

WRONG = {
    "spec.resources.requests.storage": (
        "v1",
        {
            "kind": "PersistentVolumeClaim",
            "spec": {"resources": {"requests": {"storage": "a lot"}}},
        },
    ),
    "spec.accessModes[0]": (
        "v1",
        {"kind": "PersistentVolume", "spec": {"accessModes": ["Once"]}},
    ),
    "volumeBindingMode": (
        "storage.k8s.io/v1",
        {"kind": "StorageClass", "provisioner": "x", "volumeBindingMode": "Later"},
    ),
    "spec.drivers[0].allocatable.count": (
        "storage.k8s.io/v1",
        {
            "kind": "CSINode",
            "spec": {
                "drivers": [{"name": "d", "nodeID": "d", "allocatable": {"count": "2"}}]
            },
        },
    ),
}


@pytest.mark.parametrize("field", WRONG)
def test_a_wrong_field_is_named(field):
    version, rest = WRONG[field]
    manifest = {"apiVersion": version, "metadata": {"name": "x"}, **rest}
    (error,) = load([("w.yaml", yaml.safe_dump(manifest))]).errors
    assert error.place.field == field
