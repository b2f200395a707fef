"""The answers, as records that JSON can hold.

Amounts are texts of integers in canonical units (`scheduler.model.amounts`) beside
the name of their resource; 9223372036854775807 is "unlimited". Shares are
numbers, None is infinite (a borrower of weight 0). Objects are named by their
key text, "Workload/namespace/name". Times are virtual milliseconds.
"""

from __future__ import annotations

from scheduler.analysis.explain.shapes.fairness import *  # noqa: F403
from scheduler.analysis.explain.shapes.pods import *  # noqa: F403
from scheduler.analysis.explain.shapes.searching import *  # noqa: F403
from scheduler.analysis.explain.shapes.whatif import *  # noqa: F403
