"""Placement: Pods to Nodes as kube-scheduler does it, by enrolled plug-ins."""
