"""The kinds of questions, by name: what a worker calls with the arguments that are kept.

Each takes its sandboxes as they are when it begins, and returns plain data that is
answered as it is. Raises what the function it calls raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from django.contrib.auth.models import User

from sandbox.actions.import_plan import Imported
from sandbox.actions.objects import do_import
from sandbox.actions.undo import do_redo, do_undo, taken_back
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
from sandbox.page.diffs import RevisionDiff
from sandbox.whatifs import work as whatifs
from sandbox.world.operations import Redo, Undo
from scheduler.analysis.explain.shapes import Change
from scheduler.input.traces.options import TraceOptions

Work = Callable[..., Any]
Tell = Callable[[Any], None]


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


def _undo(sandbox: Sandbox, **asked: Any) -> Any:
    return _taken_back(do_undo, Undo(asked["edit"]), sandbox, **asked)


def _redo(sandbox: Sandbox, **asked: Any) -> Any:
    return _taken_back(do_redo, Redo(asked["edit"]), sandbox, **asked)


def _taken_back(
    act: Callable[..., RevisionDiff],
    operation: Undo | Redo,
    sandbox: Sandbox,
    *,
    user: int,
    edit: int,
    since: int,
    tell: Tell,
) -> Any:
    """Do it, unless a worker that was lost had committed it; `since` is when it was asked."""
    made = taken_back(sandbox, operation, since)
    if made is not None:
        return {"revision": made.number, "tick": made.tick}
    step = act(
        User.objects.get(pk=user),
        sandbox.pk,
        asked=edit,
        progress=lambda done, of: tell({"done": done, "of": of}),
    )
    return {"revision": step.revision, "tick": step.tick}


def _import(
    sandbox: Sandbox, *, user: int, files: Any, traces: Any, tell: Tell, **asked: Any
) -> Imported:
    """Import files; of a worker that was lost after its commit nothing is left to change."""
    return do_import(
        User.objects.get(pk=user),
        sandbox.pk,
        [(name, text) for name, text in files],
        traces=msgspec.convert(traces, TraceOptions),
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
    "import": _import,
    "incident": _incident,
    "pair": pair_of,
    "redo": _redo,
    "reproduction": reproducing.reproduce_event,
    "runs": _runs,
    "shadow": shadowing.shadow,
    "shadowDecision": shadowing.open_decision,
    "submission": _submission,
    "undo": _undo,
    "whatIf": whatifs.run,
}
#: The kinds that change their sandbox: each time that one is asked it is another.
ACTS = frozenset({"import", "redo", "undo"})


#: The kinds that say what they know before they are through.
_TELLING = frozenset({"counterfactuals"}) | ACTS


def work_out(
    kind: str,
    sandboxes: Sequence[Sandbox],
    arguments: dict[str, Any],
    tell: Tell,
) -> Any:
    """Return the answer to a question as plain data; `tell` gets it so far."""
    told = {"tell": tell} if kind in _TELLING else {}
    return msgspec.to_builtins(KINDS[kind](*sandboxes, **arguments, **told))
