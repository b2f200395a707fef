"""When waiting Workloads start, as the newest kept forecast has it."""

from __future__ import annotations

import math

import msgspec

from api.metrics.exposition import Exposition
from sandbox.forecasts.outcomes import kept_of
from sandbox.models import KeptForecast, Sandbox
from sandbox.page.diffs import Page
from scheduler.analysis.forecast.starts import Forecast

NAME = "quotalab_forecast_start_seconds"
_HELP = "Until a waiting Workload starts, by quantile, from now; +Inf is beyond"
_WAITS = ("pending", "inadmissible", "reserved")


def add_forecast(
    out: Exposition, sandbox: Sandbox, page: Page, common: dict[str, str]
) -> None:
    """Add three quantiles of each Workload that was forecast and waits still."""
    rows = kept_of(sandbox).filter(state=KeptForecast.DONE)
    answer = rows.order_by("-pk").values_list("answer", flat=True).first()
    if answer is None:
        return
    found = msgspec.convert(answer, Forecast)
    passed = sandbox.now_ms - found.now_ms
    for one in found.starts if passed >= 0 else ():
        row = page.get(one.workload)
        if row is None or row["phase"] not in _WAITS:
            continue
        labels = {**common, "namespace": row["namespace"], "workload": row["name"]}
        labels["local_queue"] = one.queue
        for level, ms in (
            ("0.1", one.p10_ms),
            ("0.5", one.p50_ms),
            ("0.9", one.p90_ms),
        ):
            left = math.inf if ms is None else max(ms - passed, 0) / 1000
            out.add(NAME, "gauge", _HELP, left, {**labels, "quantile": level})
