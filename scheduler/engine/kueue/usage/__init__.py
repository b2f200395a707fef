"""Admission fair sharing: usage of LocalQueues that decays with time."""

from __future__ import annotations
