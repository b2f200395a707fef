"""Karpenter: NodePools that choose among instance types by price, and consolidate."""
