"""Check of NodeGroup: what an autoscaler may add, and for how much."""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import expect_object
from scheduler.model.autoscaling.group_spec import read_group_spec
from scheduler.model.errors import QuantityError
from scheduler.model.problems import parted


def check_node_group(document: Document) -> dict[str, Any]:
    """Check a NodeGroup and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    try:
        read_group_spec(spec)
    except QuantityError as error:
        path, problem = parted(error.said)
        field = "spec" if path == "spec" else f"spec.{path}"
        raise document.error(field, problem) from error
    return document.copied()
