"""Checks of ProvisioningRequests and of what says how Kueue makes them."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import (
    expect_items,
    expect_object,
    expect_text,
    expect_whole,
)
from scheduler.input.manifests.strict import expect_labels


def check_request(document: Document) -> dict[str, Any]:
    """Check a ProvisioningRequest and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    expect_text(document, spec, "spec.provisioningClassName")
    expect_labels(document, spec, "spec.parameters")
    for where, item in expect_items(document, spec, "spec.podSets"):
        expect_whole(document, item, f"{where}.count", least=1)
        path = f"{where}.podTemplateRef"
        reference = expect_object(document, item, path, needed=True)
        expect_text(document, reference, f"{path}.name")
    return document.copied()
