"""Kueue: which workloads get quota, wait, or are evicted for others."""
