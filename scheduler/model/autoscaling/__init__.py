"""Node groups, node pools and ProvisioningRequests: what their fields mean."""
