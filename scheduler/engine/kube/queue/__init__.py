"""The scheduling queue: active, backoff, unschedulable and gated pods."""

from __future__ import annotations
