"""YuniKorn's queues.yaml: its fields, their checks, resources."""

from __future__ import annotations
