"""The document `kind: Experiment`: what is varied, from where, how far, and what holds."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec

from scheduler.model import durations, ranges
from scheduler.model.errors import PolicyError, QuantityError
from scheduler.model.policy import Stack
from scheduler.model.problems import RequestProblem, Wanted, expected
from scheduler.model.problems.validation import said_of_value

# ------------------------------------------------------------------------
# The base of all parts of an experiment's document.


class Strict(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
):
    """The base of all parts: unknown fields are errors."""


# ------------------------------------------------------------------------
# What a search may change, what must hold in its answer, and how far it may go.


#: Runs of a search that names no number.
USUAL_RUNS = 200


class QuotaChange(Strict, frozen=True, kw_only=True):
    """Nominal quota that may move between ClusterQueues, in steps.

    `total` "keep" moves without changing the sum; "free" lets every queue
    change by itself; a quantity lets the sum grow up to it. `low` and `high`
    bound each queue; without them 0 and twice what it has (with "keep": the sum).
    """

    flavor: str
    resource: str
    step: str | int | float
    queues: list[str] = []  # none = every ClusterQueue that has flavor and resource
    total: str | int | float = "keep"
    low: str | int | float | None = None
    high: str | int | float | None = None


class LimitChange(Strict, frozen=True, kw_only=True):
    """Borrowing or lending limits of ClusterQueues; null among `values` = no limit."""

    flavor: str
    resource: str
    values: list[str | int | float | None]
    queues: list[str] = []


class QueueValues(Strict, frozen=True, kw_only=True):
    """Values that a setting of each ClusterQueue may take; none = what it knows."""

    queues: list[str] = []
    values: list[str | int | float] = []


class PreemptionChange(Strict, frozen=True, kw_only=True):
    """Preemption policies of ClusterQueues; a field without values stays as it is.

    With no field named at all, each of the first two may take every value.
    """

    queues: list[str] = []
    within_cluster_queue: list[str] = []
    reclaim_within_cohort: list[str] = []
    borrow_within_cohort: list[str] = []


class FairSharingChange(Strict, frozen=True, kw_only=True):
    """Lists of fair-sharing strategies to choose from; an empty list = off.

    With none named: off, each strategy alone, and both.
    """

    strategies: list[list[str]] = []


class PriorityChange(Strict, frozen=True, kw_only=True):
    """Values that WorkloadPriorityClasses may have."""

    classes: list[str]
    values: list[int]


class NodesChange(Strict, frozen=True, kw_only=True):
    """How many nodes of a group there are, from `low` to `high`.

    The group is what carries the labels. More nodes are copies of its first,
    fewer are without its last; names in ascending order.
    """

    labels: dict[str, str]
    low: int
    high: int
    step: int = 1


class AnyField(Strict, frozen=True, kw_only=True):
    """Values of one field of one object, or of one path of the policy's spec.

    The object as "Kind/name" or "Kind/namespace/name". Values in ascending
    order are `ordered`: those between are tried as smaller changes.
    """

    values: list[Any]
    object: str = ""
    field: str = ""
    policy: str = ""
    ordered: bool = False


class MayChange(Strict, frozen=True, kw_only=True):
    """One thing that may change: exactly one field is given."""

    quota: QuotaChange | None = None
    borrowing_limit: LimitChange | None = None
    lending_limit: LimitChange | None = None
    weight: QueueValues | None = None
    preemption: PreemptionChange | None = None
    fair_sharing: FairSharingChange | None = None
    queueing_strategy: QueueValues | None = None
    priority: PriorityChange | None = None
    nodes: NodesChange | None = None
    field: AnyField | None = None


class Constraint(Strict, frozen=True, kw_only=True):
    """Bounds of a measure, or how much worse than before it may become.

    A `*` in the measure stands for each that there is. `over` says whether the
    mean over seeds is meant or every seed. `loses` 0.1 = no more than 10% worse
    than the base; for times a second more is allowed.
    """

    measure: str
    min: float | None = None
    max: float | None = None
    over: Literal["mean", "every"] = "mean"
    loses: float | None = None


class HeldOut(Strict, frozen=True, kw_only=True):
    """Seeds that the search does not use: `count`, from `start` on."""

    count: int = 10
    start: int = 1_000_001


Sampler = Literal["tpe", "nsga2", "random"]


# ------------------------------------------------------------------------
# The document `kind: Experiment`: what is varied, from where, how far, and what
# holds.


#: More runs than these are refused: a grid grows faster than one thinks.
MOST_RUNS = 10_000

_AT = re.compile(r"(.*?) - at `\$\.?(.*)`")


class Base(Strict, frozen=True, kw_only=True):
    """Where every run begins: one of scenario, sandbox and files.

    `tick` is of the sandbox, now when it is left out; `what_if` is the number of an
    open what-if of it: every run begins at its tick, with its changes. `files` are
    names of texts that come with the document. `stack` says which schedulers run the files;
    without it the schedulers are those that the files are for.
    """

    scenario: str = ""
    sandbox: str = ""
    tick: Annotated[int, ranges.meta(ranges.TICK)] | None = None
    what_if: Annotated[int, ranges.meta(ranges.COUNT)] | None = None
    files: list[str] = []
    stack: Stack | None = None


class SeedRange(Strict, frozen=True, kw_only=True):
    """`count` seeds, the first `start`."""

    count: int
    start: Annotated[int, ranges.meta(ranges.SEED)] = 1


class ObjectChange(Strict, frozen=True, kw_only=True):
    """A change of one object: a merge patch, single fields, or its deletion.

    `object` is "Kind/namespace/name", or "Kind/name" when it is cluster-wide;
    `set` has paths such as "spec.resourceGroups[0].flavors[0].name".
    `create` is a whole manifest and stands alone.
    """

    object: str = ""
    patch: dict[str, Any] = {}
    set: dict[str, Any] = {}
    delete: bool = False
    create: dict[str, Any] = {}


class Change(Strict, frozen=True, kw_only=True):
    """What a variant has that the base has not.

    `policy` is a merge patch of the policy's spec. `arrivals` = 2 lets
    everything that is still to come arrive in half the time.
    """

    policy: dict[str, Any] = {}
    objects: list[ObjectChange] = []
    arrivals: float = 1.0


class Variant(Change, frozen=True, kw_only=True):
    """One column of the results."""

    name: str


class NumberRange(Strict, frozen=True, kw_only=True):
    """Numbers to draw from."""

    low: float
    high: float
    scale: Literal["linear", "log"] = "linear"
    whole: bool = False


class Axis(Strict, frozen=True, kw_only=True):
    """One dimension of a grid or search.

    Either `choices`, or values of one thing: of `policy` (a path in the
    policy's spec), of a `field` of an `object`, or (neither) of `arrivals`.
    A search may draw from a `range` instead of `values`.
    """

    name: str
    choices: list[Variant] = []
    policy: str = ""
    object: str = ""
    field: str = ""
    values: list[Any] = []
    range: NumberRange | None = None


class SearchSpec(Strict, frozen=True, kw_only=True):
    """Random search over `axes`, or the search of an advisor over `change`.

    Random: `samples` variants, each drawing from every axis. An advisor's
    search asks for variants as it goes: no more than `runs` of them times seeds,
    then a few more to prove the answer. `tolerance` is the share of the
    objective that may be given up for a smaller change. `racing` stops what does badly on the
    first seeds.
    """

    axes: list[Axis] = []
    samples: int = 0
    seed: Annotated[int, ranges.meta(ranges.SEED)] = 1
    change: list[MayChange] = []
    constraints: list[Constraint | str] = []
    runs: int = USUAL_RUNS
    held_out: HeldOut = HeldOut()
    sampler: Sampler = "tpe"
    tolerance: float = 0.01
    racing: bool = True


class Assertion(Strict, frozen=True, kw_only=True):
    """What must hold: bounds of a measure, or a rangespec of Kueue.

    `over` says whether the mean over seeds is meant or every run. `rangespec`
    is the document, or the name of a file that comes with this one.
    """

    measure: str = ""
    min: float | None = None
    max: float | None = None
    variant: str = ""  # "" = each of them
    over: Literal["mean", "every"] = "mean"
    rangespec: dict[str, Any] | str = ""


class Objective(Strict, frozen=True, kw_only=True):
    """A measure to be had low or high, for the Pareto front."""

    measure: str
    better: Literal["low", "high"] = "low"
    weight: float = 1.0  # of several in a search, as shares of what each was


DEFAULT_OBJECTIVES = (Objective(measure="waitMeanMs"), Objective(measure="workLostMs"))


class ExperimentSpec(Strict, frozen=True, kw_only=True):
    """What the document says. The first variant is what others are held against."""

    base: Base
    title: str = ""
    seeds: list[int] | SeedRange | None = None  # None = the base's own
    horizon: str = ""  # from the base's time on; "" = the scenario's, else 1h
    limit: str = "5m"  # "started within"
    variants: list[Variant] = []
    grid: list[Axis] = []
    search: SearchSpec | None = None
    objectives: tuple[Objective, ...] = DEFAULT_OBJECTIVES
    assertions: list[Assertion] = []


class ExperimentDocument(Strict, frozen=True, kw_only=True):
    """The whole document."""

    spec: ExperimentSpec
    api_version: Literal["quotalab.dev/v1"] = "quotalab.dev/v1"
    kind: Literal["Experiment"] = "Experiment"
    metadata: dict[str, Any] = {}


class ExperimentError(PolicyError):
    """The document cannot be taken; `field` is the path of what is wrong."""


def read_experiment(document: dict[str, Any]) -> ExperimentDocument:
    """Return the experiment. Raises ExperimentError naming the field."""
    try:
        experiment = msgspec.convert(document, ExperimentDocument)
    except msgspec.ValidationError as error:
        problem, field = str(error), ""
        if match := _AT.fullmatch(problem):
            problem, field = match[1], match[2]
        raise ExperimentError(said_of_value(problem), field) from error
    _check(experiment.spec)
    return experiment


def _check(spec: ExperimentSpec) -> None:
    base = spec.base
    given = [n for n in ("scenario", "sandbox", "files") if getattr(base, n)]
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        raise ExperimentError(
            expected(
                Wanted.ONE_OF.said(known="scenario, sandbox and files"), given=found
            ),
            "spec.base",
        )
    if base.tick is not None and not base.sandbox:
        raise ExperimentError(RequestProblem.SANDBOX_TICK.said(), "spec.base.tick")
    if base.what_if is not None and (not base.sandbox or base.tick is not None):
        raise ExperimentError(RequestProblem.SANDBOX_WHAT_IF.said(), "spec.base.whatIf")
    if base.stack is not None and base.sandbox:
        raise ExperimentError(RequestProblem.SANDBOX_STACK.said(), "spec.base.stack")
    for field in ("horizon", "limit"):
        _check_time(getattr(spec, field), f"spec.{field}")
    _check_seeds(spec.seeds)
    for n, assertion in enumerate(spec.assertions):
        if bool(assertion.measure) == bool(assertion.rangespec):
            raise ExperimentError(
                expected(Wanted.EITHER_OF.said(first="measure", last="rangespec")),
                f"spec.assertions[{n}]",
            )


def _check_seeds(seeds: list[int] | SeedRange | None) -> None:
    match seeds:
        case None:
            return
        case SeedRange(count=count, start=start):
            first, last = start, start + count - 1
        case _:
            count = len(seeds)
            first, last = min(seeds, default=0), max(seeds, default=0)
    if not 1 <= count <= MOST_RUNS:
        problem = expected(
            Wanted.COUNTED.said(least="1", most=MOST_RUNS, kind="seeds"), given=count
        )
        raise ExperimentError(problem, "spec.seeds")
    if first < 0 or last >= 2**63:
        raise ExperimentError(expected(Wanted.SEEDS), "spec.seeds")


def _check_time(text: str, field: str) -> None:
    try:
        wrong = bool(text) and durations.span_ms(text) < 0
    except QuantityError as error:
        raise ExperimentError(error.said, field) from error
    if wrong:
        raise ExperimentError(expected(Wanted.TIME_POSITIVE, text), field)


def seeds_of(spec: ExperimentSpec, own: int) -> list[int]:
    """Return the seeds, in order; the base's `own` when none are given."""
    match spec.seeds:
        case None:
            return [own]
        case SeedRange(count=count, start=start):
            return list(range(start, start + count))
        case _:
            return list(dict.fromkeys(spec.seeds))
