"""A run in numbers: waits, use, fairness, fragmentation, lost work, kept up as it goes."""

from __future__ import annotations

from scheduler.measures.collector import Measures
from scheduler.measures.directions import better
from scheduler.measures.statistics import quantile
from scheduler.measures.summary import ClassWait, Summary, flat

__all__ = ["ClassWait", "Measures", "Summary", "better", "flat", "quantile"]
