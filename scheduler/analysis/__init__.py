"""What a run means: explanations, measures, experiments, forecasts."""

from __future__ import annotations
