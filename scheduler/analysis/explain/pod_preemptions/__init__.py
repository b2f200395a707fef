"""Preemptions of pods step by step: kube-scheduler's and YuniKorn's."""
