"""Which ResourceFlavors the pod sets of a Workload would get."""

from __future__ import annotations
