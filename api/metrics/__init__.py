"""Prometheus metrics: the names of Kueue, YuniKorn and kube-scheduler, per sandbox.

Every value is of simulated time: a rate over wall time means nothing while a
sandbox runs at another speed; `quotalab_simulated_seconds` is the clock to use.
"""
