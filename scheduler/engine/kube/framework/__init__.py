"""The scheduling framework: plug-ins, extension points, statuses, events."""

from __future__ import annotations
