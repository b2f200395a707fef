"""Node groups, node pools and ProvisioningRequests: what their fields mean."""

from __future__ import annotations
