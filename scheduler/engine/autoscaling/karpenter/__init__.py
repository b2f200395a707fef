"""Karpenter: NodePools that choose among instance types by price, and consolidate."""

from __future__ import annotations
