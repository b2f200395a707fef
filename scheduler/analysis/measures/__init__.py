"""A run in numbers: waits, use, fairness, fragmentation, lost work, kept up as it goes."""

from __future__ import annotations

from scheduler.analysis.measures.collector import Measures
from scheduler.analysis.measures.summary import ClassWait, Summary, flat
from scheduler.analysis.measures.waits import Waits, better, quantile, waits_of

__all__ = [
    "ClassWait",
    "Measures",
    "Summary",
    "Waits",
    "better",
    "flat",
    "quantile",
    "waits_of",
]
