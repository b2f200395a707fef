"""Experiments: variants x seeds of one base, fanned out over any number of workers.

Rows say what is to be run. A run is claimed by a conditional UPDATE with a
lease, so whoever dies loses one run's time and nothing else; the clock sends
workers wherever runs wait. Results do not depend on who ran what.
"""
