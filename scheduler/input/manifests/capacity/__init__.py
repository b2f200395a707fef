"""Checks of the kinds that bring nodes: groups, pools, requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler.input.manifests.capacity import node_pools
from scheduler.input.manifests.documents import Document

CHECKS: Mapping[str, Callable[[Document], dict[str, Any]]] = {
    "InstanceType": node_pools.check_instance_type,
    "NodeGroup": node_pools.check_node_group,
    "NodePool": node_pools.check_node_pool,
    "ProvisioningRequest": node_pools.check_request,
}
