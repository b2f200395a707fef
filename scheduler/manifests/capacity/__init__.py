"""Checks of the kinds that bring nodes: groups, pools, requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler.manifests.capacity import node_groups, provisioning
from scheduler.manifests.documents import Document

CHECKS: Mapping[str, Callable[[Document], dict[str, Any]]] = {
    "NodeGroup": node_groups.check_node_group,
    "ProvisioningRequest": provisioning.check_request,
    "ProvisioningRequestConfig": provisioning.check_config,
}
