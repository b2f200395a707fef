"""The kinds of questions, by name: what a worker calls with the arguments that are kept.

Each takes its sandboxes as they are when it begins, and returns plain data that is
answered as it is. Raises what the function it calls raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from django.contrib.auth.models import User

from sandbox.experiments import actions as experiments
from sandbox.experiments.comparing import compare_runs
from sandbox.explain import (
    comparing,
    explaining,
    forecasting,
    replaying,
    reproducing,
    shadowing,
)
from sandbox.explain.comparing.pair import pair_of
from sandbox.explain.explaining import key_of
from sandbox.explain.forecasting import ForecastOptions
from sandbox.models import Sandbox
from sandbox.whatifs import work as whatifs
from scheduler.analysis.explain.shapes import Change

Work = Callable[..., Any]


def _counterfactuals(sandbox: Sandbox, *, workload: str, **asked: Any) -> Any:
    return explaining.explain_counterfactuals(sandbox, key_of(workload), **asked)


def _incident(sandbox: Sandbox, *, change: Any, **window: Any) -> Any:
    found = msgspec.convert(change, Change)
    return replaying.replay_incident(sandbox, change=found, **window)


def _submission(sandbox: Sandbox, *, files: Any, options: Any, **asked: Any) -> Any:
    return forecasting.forecast_submit(
        sandbox,
        files=[(name, text) for name, text in files],
        options=msgspec.convert(options, ForecastOptions),
        **asked,
    )


def _compare(*sandboxes: Sandbox, **asked: Any) -> Any:
    return comparing.compare(sandboxes, **asked)


def _estimate(*, user: int, document: Any, files: Any) -> Any:
    return experiments.do_estimate(User.objects.get(pk=user), document, files=files)


def _runs(*, user: int, experiment: str, numbers: Any, **asked: Any) -> Any:
    found = experiments.visible(User.objects.get(pk=user), experiment)
    return compare_runs(found, numbers, **asked)


KINDS: dict[str, Work] = {
    "compare": _compare,
    "counterfactuals": _counterfactuals,
    "estimate": _estimate,
    "incident": _incident,
    "pair": pair_of,
    "reproduction": reproducing.reproduce_event,
    "runs": _runs,
    "shadow": shadowing.shadow,
    "shadowDecision": shadowing.open_decision,
    "submission": _submission,
    "whatIf": whatifs.run,
}


#: The kinds that say what they know before they are through.
_TELLING = frozenset({"counterfactuals"})


def work_out(
    kind: str,
    sandboxes: Sequence[Sandbox],
    arguments: dict[str, Any],
    tell: Callable[[Any], None],
) -> Any:
    """Return the answer to a question as plain data; `tell` gets it so far."""
    told = {"tell": tell} if kind in _TELLING else {}
    return msgspec.to_builtins(KINDS[kind](*sandboxes, **arguments, **told))
