"""Experiments: variants x seeds of one scenario, fanned out over workers."""

from __future__ import annotations
