"""Admission fair sharing: usage of LocalQueues that decays with time."""
