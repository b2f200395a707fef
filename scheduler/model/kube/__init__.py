"""KubeSchedulerConfiguration: profiles, plug-ins and their arguments, extenders."""

from __future__ import annotations
