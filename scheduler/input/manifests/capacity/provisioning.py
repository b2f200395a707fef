"""Checks of ProvisioningRequests and of what says how Kueue makes them."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import (
    expect_choice,
    expect_items,
    expect_object,
    expect_text,
    expect_whole,
)
from scheduler.input.manifests.strict import expect_known, expect_labels, expect_texts
from scheduler.model.autoscaling.provisioning_config import MERGING

_RETRY = ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds")
_CONFIG = (
    "managedResources",
    "parameters",
    "podSetMergePolicy",
    "podSetUpdates",
    "provisioningClassName",
    "retryStrategy",
)
_UPDATE = ("key", "valueFromProvisioningClassDetail")


def check_config(document: Document) -> dict[str, Any]:
    """Return a ProvisioningRequestConfig. Raises ManifestError naming the field."""
    spec = expect_object(document, document.data, "spec", needed=True)
    expect_known(document, spec, "spec", _CONFIG)
    expect_text(document, spec, "spec.provisioningClassName")
    expect_labels(document, spec, "spec.parameters")
    expect_texts(document, spec, "spec.managedResources")
    if spec.get("podSetMergePolicy") is not None:
        expect_choice(document, spec, "spec.podSetMergePolicy", MERGING)
    path = "spec.retryStrategy"
    retry = expect_object(document, spec, path)
    expect_known(document, retry, path, _RETRY)
    for name in _RETRY:
        expect_whole(document, retry, f"{path}.{name}", least=0, default=0)
    updates = expect_object(document, spec, "spec.podSetUpdates")
    expect_known(document, updates, "spec.podSetUpdates", ("nodeSelector",))
    path = "spec.podSetUpdates.nodeSelector"
    for where, item in expect_items(document, updates, path):
        for name in _UPDATE:
            expect_text(document, item, f"{where}.{name}")
    return document.copied()


def check_request(document: Document) -> dict[str, Any]:
    """Return a ProvisioningRequest. Raises ManifestError naming the field."""
    spec = expect_object(document, document.data, "spec", needed=True)
    expect_text(document, spec, "spec.provisioningClassName")
    expect_labels(document, spec, "spec.parameters")
    for where, item in expect_items(document, spec, "spec.podSets"):
        expect_whole(document, item, f"{where}.count", least=1)
        path = f"{where}.podTemplateRef"
        reference = expect_object(document, item, path, needed=True)
        expect_text(document, reference, f"{path}.name")
    return document.copied()
