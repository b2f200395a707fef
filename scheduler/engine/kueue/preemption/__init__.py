"""Whom a Workload would preempt: classical preemption and fair sharing."""
