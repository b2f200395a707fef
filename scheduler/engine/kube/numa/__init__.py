"""NUMA zones of nodes: what is free in each, who holds it, what fits, what it scores."""
