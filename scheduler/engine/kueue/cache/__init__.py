"""What is admitted: the cluster, candidates for preemption, quota in use."""

from __future__ import annotations
