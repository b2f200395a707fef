"""The served version back to an older one, for clients that speak that one."""

from __future__ import annotations

from typing import Any

from api.cluster.resources import Resource
from scheduler.input.manifests.kinds import KUEUE
from scheduler.input.manifests.versions import to_older

Manifest = dict[str, Any]


def in_version(document: Manifest, resource: Resource) -> Manifest:
    """Return the document as the resource's version writes it."""
    written = {**document, "apiVersion": resource.group_version}
    if resource.kind.group == KUEUE and resource.version != resource.kind.versions[0]:
        return to_older(written)
    return written
