"""Questions about a sandbox, as a worker answers them."""

from __future__ import annotations

from typing import Any

import msgspec

from sandbox.answers.work import answers
from sandbox.explain import comparing, explaining, forecasting, shadowing
from sandbox.explain.comparing.branches import pair_of
from sandbox.explain.explaining import key_of
from sandbox.explain.forecasting import ForecastOptions
from sandbox.models import Sandbox
from scheduler.analysis.explain import to_document
from scheduler.analysis.explain.shapes import Change
from scheduler.input.manifests.chosen_run_times import RunTimeChoice

answers("pair")(pair_of)
answers("reproduction")(explaining.reproduce_event)
answers("shadow")(shadowing.shadow)
answers("shadowDecision")(shadowing.open_decision)


@answers("counterfactuals", tells=True)
def _counterfactuals(sandbox: Sandbox, *, workload: str, **asked: Any) -> Any:
    return explaining.explain_counterfactuals(sandbox, key_of(workload), **asked)


@answers("explanation")
def _explanation(sandbox: Sandbox, *, about: str, tick: int | None) -> Any:
    return explaining.explain_overview(sandbox, about, tick, tried=True)


@answers("incident")
def _incident(sandbox: Sandbox, *, change: Any, **window: Any) -> Any:
    found = msgspec.convert(change, Change)
    return shadowing.replay_incident(sandbox, change=found, **window)


@answers("submission")
def _submission(sandbox: Sandbox, *, files: Any, options: Any, **asked: Any) -> Any:
    return forecasting.forecast_submit(
        sandbox,
        files=[(name, text) for name, text in files],
        options=msgspec.convert(options, ForecastOptions),
        **asked,
    )


@answers("would")
def _would(sandbox: Sandbox, *, files: Any, run_times: Any, **asked: Any) -> Any:
    texts = [(name, text) for name, text in files]
    choice = msgspec.convert(run_times, RunTimeChoice)
    found = forecasting.would_submit(sandbox, files=texts, run_times=choice, **asked)
    return to_document(found)


@answers("compare")
def _compare(*sandboxes: Sandbox, **asked: Any) -> Any:
    return comparing.compare(sandboxes, **asked)
