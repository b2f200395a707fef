"""Releases of the three schedulers, and who asks them.

`release.py` knows the releases and Kueue's apiVersions, `kueue_gates.py` has a row per
feature gate: stage and default from each release on. `rules.py` reads the ledger, a YAML
file per scheduler with a row per change: the first patch of each branch that has it. A new
release is a patch in `release.py`, and the rows of what it changes.
"""
