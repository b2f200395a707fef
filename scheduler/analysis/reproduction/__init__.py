"""Minimal reproduction: the smallest world that still shows one decision.

```
 start ──▶ objects, policy ──▶ shrink ──▶ trim ──▶ a scenario that expects the decision
 starts.py                    shrinking   trimming  report.py
```

A world shows a decision when it is really run and the decision is taken again;
nothing is guessed from what objects look like.
"""

from __future__ import annotations

from scheduler.analysis.reproduction.report import Reproduction
from scheduler.analysis.reproduction.search import Hear, match_of, reproduce
from scheduler.analysis.reproduction.starts import Start, start_of_files, start_of_world

__all__ = [
    "Hear",
    "Reproduction",
    "Start",
    "match_of",
    "reproduce",
    "start_of_files",
    "start_of_world",
]
