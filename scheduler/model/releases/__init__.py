"""Releases of the three schedulers, as four tables, and who asks them.

| table | file | a row |
| --- | --- | --- |
| gates | `kueue_gates.py` | a feature gate: stage and default from each release on |
| rules | `rules.py` | a change of decisions: the first patch of each branch that has it |
| defaults | `kueue_defaults.py` | what a Configuration of an apiVersion leaves out |
| words | `kueue_words.py` | a reason that older releases spell otherwise |

A new release is a row in `versions.py`, and the rows of what it changes. Without a
release a world decides as it did before there were any: `docs/releases.md`.
"""
