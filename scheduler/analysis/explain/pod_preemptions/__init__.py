"""Preemptions of pods step by step: kube-scheduler's and YuniKorn's."""

from __future__ import annotations
