"""ProvisioningRequests: what Kueue asks of an autoscaler, and what it answers."""
