"""Whom a Workload would preempt: classical preemption and fair sharing."""

from __future__ import annotations
