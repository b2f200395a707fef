"""Why, and what if: every answer comes from the schedulers' own code.

An explanation is one admission cycle on a copy of the world with its steps
written down; a counterfactual is a copy that was changed and really run on.
Nothing given here changes the world that is asked about.

- `explain(world, key) -> Explanation`: why a Workload is where it is
- `explain_preemption(world_before, decision) -> Preemption`: the search that
  chose a victim, step by step, from the world at the start of its tick
- `counterfactuals(world, key, horizon_ms=, limit=) -> Counterfactuals`, and
  `try_counterfactuals` that yields (tried, questions, verdict or None)
- `what_if_move(world, key, target) -> Preview`, `what_if(world, change,
  subject=) -> Preview`: before a drop, or an edit of quota
- `apply(world, change)`: do a change; the page may send its patches instead
- `fairness(world) -> Fairness`: shares, lenders and borrowers, whose turn it is
- `explain_pod(world, key) -> PodExplanation | AskExplanation`
- `fork(world) -> World`: an independent copy, manifests shared

The records are in `scheduler.explain.shapes`; `to_document` makes plain JSON
values of any of them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.explain.shapes import Shape


def to_document(answer: Shape) -> dict[str, Any]:
    """Return an answer as plain values, camelCase, ready for JSON."""
    document: dict[str, Any] = msgspec.to_builtins(answer)
    return document
