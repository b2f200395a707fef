"""Why, and what if: every answer comes from the schedulers' own code.

An explanation is one admission cycle on a copy of the world with its steps
written down; a counterfactual is a copy that was changed and really run on.
The world that is asked about stays as it is.

- `workloads.explain(world, key) -> Explanation`: why a Workload is where it is
- `preemptions.explain_preemption(world_before, decision) -> Preemption |
  PodPreemption`: the search that chose a victim, step by step, from the world
  before its tick; of pods node by node
- `counterfactuals.counterfactuals(world, key, horizon_ms=, limit=)
  -> Counterfactuals`
- `moves.move(world, key, target) -> Change`: the patches of a drop
- `changes.apply(world, change)`: does a Change; its patches do the same
- `fairness.fairness(world) -> Fairness`: shares, lenders, whose turn it is
- `pods.explain_pod(world, key) -> PodExplanation | AskExplanation`
- `fork.fork(world) -> World`: an independent copy that shares manifests

The records are in `shapes`; `to_document` makes plain JSON values of any.
Questions that make no sense raise SchedulerError with the reason.
"""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.analysis.explain.shapes import Shape


def to_document(answer: Shape) -> dict[str, Any]:
    """Return an answer as plain values, camelCase, ready for JSON."""
    document: dict[str, Any] = msgspec.to_builtins(answer)
    return document
