"""A ProvisioningRequestConfig: what is asked for, when, and how often again.

Source: docs/semantics/capacity.md#provisioningrequests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CONFIG = "ProvisioningRequestConfig"
REQUEST = "ProvisioningRequest"
IDENTICAL = "IdenticalPodTemplates"
SAME_NEEDS = "IdenticalWorkloadSchedulingRequirements"
_RETRY = {"backoffLimitCount": 3, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800}

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestConfig:
    """How the requests of one check are made; `managed` empty means every resource."""

    class_name: str
    parameters: dict[str, str]
    managed: frozenset[str]
    limit: int
    base_s: int
    max_s: int
    merging: str
    #: node label -> name of the detail of the class that gives its value
    node_selector: dict[str, str]

    def delay_s(self, retries: int) -> int:
        """Return how long to wait before the next attempt."""
        doubled: int = self.base_s << min(retries, 32)
        return min(doubled, self.max_s)


def read_config(spec: Manifest) -> RequestConfig:
    """Return the config of a checked spec."""
    retry = {**_RETRY, **(spec.get("retryStrategy") or {})}
    updates = (spec.get("podSetUpdates") or {}).get("nodeSelector") or ()
    return RequestConfig(
        class_name=spec["provisioningClassName"],
        parameters=dict(spec.get("parameters") or {}),
        managed=frozenset(spec.get("managedResources") or ()),
        limit=int(retry["backoffLimitCount"]),
        base_s=int(retry["backoffBaseSeconds"]),
        max_s=int(retry["backoffMaxSeconds"]),
        merging=spec.get("podSetMergePolicy") or "",
        node_selector={
            item["key"]: item["valueFromProvisioningClassDetail"] for item in updates
        },
    )
