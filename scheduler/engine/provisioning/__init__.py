"""ProvisioningRequests: what Kueue asks of an autoscaler, and what it answers."""

from __future__ import annotations
