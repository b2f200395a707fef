"""KubeSchedulerConfiguration: read, resolved to profiles, and described."""

from __future__ import annotations
