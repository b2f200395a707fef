"""What a run comes to: one record of plain numbers, and the same as flat names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec


class ClassWait(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    forbid_unknown_fields=True,
):
    """How long the workloads of one class waited; milliseconds of virtual time.

    Those that never started count with what they have waited so far (`waits.py`).
    `mean_last_ms` counts to the last start, which an eviction makes later.
    """

    count: int  # that started
    waiting: int = 0  # that never started
    mean_ms: float
    p50_ms: float
    p95_ms: float
    max_ms: float
    mean_last_ms: float


class QueueWait(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    forbid_unknown_fields=True,
):
    """How the workloads of one queue fared, or all; milliseconds of virtual time.

    What never started counts with what it has waited so far, of an experiment to
    its horizon (`waits.py`). `slowdown` is the time from arrivals to ends (or now) over the time
    of the runs that were not lost, both of ten seconds at least: 1 = nothing ever
    waited; None = nothing came.
    """

    arrived: int
    started: int
    mean_ms: float | None
    p50_ms: float | None
    p95_ms: float | None
    max_ms: float | None
    slowdown: float | None


class Summary(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A run in numbers. Times in milliseconds of virtual time.

    None stands for what this run cannot say: nothing came. Waits are of all that
    arrived, or waited at the begin, from its arrival; the `waiting` that never started count
    with what they have waited so far, which is a lower bound.
    """

    end_ms: int
    arrived: int
    admitted: int  # that got quota or a node at least once
    finished: int
    waiting: int  # that never started
    preemptions: int
    evictions: int  # of which some are preemptions, each counted once
    wait_mean_ms: float | None
    wait_p50_ms: float | None
    wait_p95_ms: float | None
    wait_max_ms: float | None
    makespan_ms: int  # first arrival, or the begin, to last finish
    work_lost_ms: int  # held and thrown away by evictions
    work_lost: dict[str, float]  # resource -> units x hours
    restarts: int = 0  # starts after an eviction
    goodput: dict[str, float] = {}  # resource -> share of what was held, not lost
    cost: float | None = None  # of the nodes of groups; None where there are none
    utilisation: dict[str, float]  # resource -> share of capacity over the run
    fragmentation: dict[str, float]  # resource -> free but useless, while some wait
    share_error: float | None  # of the cluster, below the weighted fair share
    jain: float | None  # of the queues' dominant use over the run; 1 = equal
    used_hours: dict[str, dict[str, float]]  # queue -> resource -> units x hours
    nominal_use: dict[str, float]  # class of queues -> use of nominal quota, 0 and up
    classes: dict[str, ClassWait]  # priority class -> waits
    within_limit: float | None  # share of what arrived that started in time
    workloads: QueueWait | None = None  # of all queues
    queues: dict[str, QueueWait] = {}  # queue -> waits, those without a start too
    slowdown_ratio: float | None = None  # highest of a queue over the lowest
    #: spans in which shares were not fair, one that lasts on counts up to now
    unfair_spans: int = 0
    time_to_fair_ms: float | None = None  # mean length of such a span
    time_to_fair_max_ms: int | None = None
    #: of searches for victims under Kueue: how many, looks at candidates, and tries
    #: whether the preemptor fits; None under another stack
    searches: int | None = None
    candidates_looked_at: int | None = None
    simulations: int | None = None
    limit_ms: int | None = None  # the time meant above
    scheduling_ms: float | None = None  # of the wall clock, given from outside


def flat(summary: Summary | Mapping[str, object]) -> dict[str, float]:
    """Return every number under a dotted name: `waitP95Ms`, `utilisation.cpu`.

    Takes the summary as plain values too, as it was stored.
    """
    plain = msgspec.to_builtins(summary) if isinstance(summary, Summary) else summary
    return dict(_flat(plain, ""))


def _flat(values: Mapping[str, object], path: str) -> Iterator[tuple[str, float]]:
    for name, value in values.items():
        where = f"{path}.{name}" if path else name
        if isinstance(value, Mapping):
            yield from _flat(value, where)
        elif isinstance(value, int | float):
            yield where, value
