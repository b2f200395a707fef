"""The Kubernetes shim: Pods and Nodes in, decisions and status out."""
