"""A scenario: objects, policy and arrivals, shown in steps, with expected outcomes."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from scheduler.model import durations
from scheduler.model.errors import PolicyError, QuantityError
from scheduler.model.problems import RequestProblem, Wanted, expected
from scheduler.model.problems.validation import said_of_value
from scheduler.model.releases.release import Release, read_release

#: Texts by language tag; "en" is always there, "zh-Hans" and "zh-Hant" beside it.
Texts = dict[str, str]

FALLBACK = "en"


class Arrival(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """Many objects made from one manifest, at the times a process gives.

    `process` is a name of the registry's family "arrival", `parameters` its
    arguments; `object` is a manifest whose name gets a number behind it.
    """

    process: str
    parameters: dict[str, Any] = {}
    object: dict[str, Any] = {}


class Match(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """What a decision must say; a field that is left out matches anything."""

    type: str
    subject: str = ""  # "Workload/default/name"
    by: str = ""
    reason: str = ""
    node: str = ""
    message: str = ""  # a part of it
    lost: str = ""  # Go duration: the work that a Preempt or a Checkpoint loses


class Expectation(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """A decision that must be taken at `at`, or (`never`) not then.

    With `most` it may be taken no more often than that, and need not be.
    """

    event: Match
    at: str = ""  # Go duration from the start; "" = at any time
    never: bool = False
    most: int | None = None


class Beside(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """Another policy that a stop is run on with, beside the run itself.

    `policy` is a merge patch of the policy's spec at the stop; `expect` holds what is
    decided from there on, `reports` parts of what it alone reports.
    """

    title: Texts
    policy: dict[str, Any]
    expect: list[Expectation] = []
    reports: list[str] = []


class Checkpoint(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """A stop of a lesson: what to say, what to ask, what the answer is.

    `beside` are policies to run the same moment under, side by side, up to `until`
    (Go duration from the start; "" is the horizon). `switch` is the path of a setting
    of the policy that the stop is about. `spot` are keys of what the stage lights; without
    them it lights what the texts name. `notes` are for the presenter alone. `shown` is when
    the answer is seen; "" is the next stop.
    """

    at: str
    say: Texts
    ask: Texts = {}
    answer: Texts = {}
    choices: list[Texts] = []
    right: int | None = None  # index of the right choice
    beside: list[Beside] = []
    until: str = ""
    switch: str = ""
    spot: list[str] = []
    notes: Texts = {}
    shown: str = ""


#: The texts that the product was asked to implement, and what they are about.
TEXTS = {
    "kueue-preemption": "Kueue: preemption",
    "kueue-workload": "Kueue: Workload",
    "yunikorn-preemption": "YuniKorn: preemption",
    "yunikorn-sorting": "YuniKorn: sorting of applications and nodes",
    "kube-scheduling": "kube-scheduler: framework, several schedulers, gangs, bin packing",
}


class Statement(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """A statement of one of TEXTS that happens here, in words of our own.

    `at` is the time of an expectation that shows it; "" is the whole run.
    """

    text: str
    statement: str
    at: str = ""


class ListedStatement(
    msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True
):
    """A statement as the list of the texts has it, with a test that holds it.

    `test` is a path and a name, "tests/a.py::test_b", beside the expectations of the
    scenario that shows it; "" where those are enough. `mutant` names a change of the engine
    that breaks the statement (tests/mutation/texts.yaml); what the scenario expects fails
    under it, or, where `killer` says so, the test.
    """

    statement: str
    test: str = ""
    mutant: str = ""
    killer: Literal["", "test"] = ""


class _Claim(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """What a lesson on a twin says that no decision shows; its tests ask for it."""


class ShadowClaim(_Claim, frozen=True, kw_only=True):
    """How many of the decisions seen until `at` this engine takes, too."""

    at: str
    judged: int
    agree: int


class ForecastClaim(_Claim, frozen=True, kw_only=True):
    """When a Workload was forecast to start, as the page asks, and when it did.

    Times are from `at` on; "" is beyond the horizon, of `came` that of the recording.
    """

    at: str
    workload: str  # "Workload/default/name"
    p10: str
    p50: str
    p90: str
    came: str


class RecordClaim(_Claim, frozen=True, kw_only=True):
    """How forecasts came out, in percent, as of the end: of eight instants, evenly
    apart, and of those that the lesson itself asks for.
    """

    judged: int
    coverage50: int
    coverage90: int


class ForkClaim(_Claim, frozen=True, kw_only=True):
    """What is decided in a fork of an instant that runs on to the horizon."""

    at: str
    expect: list[Expectation]


class TwinClaims(_Claim, frozen=True, kw_only=True):
    """A scenario with it is shown as a twin: a recording of its run, to the horizon."""

    shadow: list[ShadowClaim] = []
    forecasts: list[ForecastClaim] = []
    record: RecordClaim | None = None
    forks: list[ForkClaim] = []


class LoadSpec(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """What arrives, by processes: beside anybody's manifests."""

    arrivals: list[Arrival]


class ScenarioSpec(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """What the file says."""

    title: Texts
    summary: Texts
    seed: int = 1
    #: Whose decisions are taken; docs/releases.md. What the policy names counts more.
    release: Release | msgspec.UnsetType = msgspec.UNSET
    policy: dict[str, Any] = {}
    arrivals: list[Arrival] = []
    checkpoints: list[Checkpoint] = []
    expect: list[Expectation] = []
    shows: list[Statement] = []  # of the texts, for docs/texts.md
    #: Parts of what loading and the run report (a refused change, a value that is
    #: not taken): every report has one of them, and each is in one.
    reports: list[str] = []
    horizon: str = "10m"  # how far an experiment or a test of it runs
    lesson: bool = False  # made from a design text, for teaching
    order: int = 100  # place in the library
    twin: TwinClaims | None = None


class Scenario(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """The whole document."""

    api_version: str = "quotalab.dev/v1"
    kind: str = "Scenario"
    metadata: dict[str, Any] = {}
    spec: ScenarioSpec


def read_load(document: dict[str, Any]) -> LoadSpec:
    """Return the arrivals. Raises PolicyError with the path of the fault."""
    try:
        return msgspec.convert(document.get("spec"), LoadSpec)
    except msgspec.ValidationError as error:
        raise PolicyError(said_of_value(str(error)), "spec") from error


def read_scenario(document: dict[str, Any]) -> Scenario:
    """Return the scenario; PolicyError names the path of what is wrong."""
    try:
        scenario = msgspec.convert(document, Scenario)
        _check(scenario.spec)
    except msgspec.ValidationError as error:
        raise PolicyError(said_of_value(str(error)), "scenario") from error
    except QuantityError as error:
        raise PolicyError(error.said, "scenario") from error
    return scenario


def _check_right(stop: int, checkpoint: Checkpoint) -> None:
    right, most = checkpoint.right, len(checkpoint.choices)
    if right is not None and not 0 <= right < most:
        said = RequestProblem.CHOICES.said(most=most, stop=stop, given=right)
        raise QuantityError(said, f"spec.checkpoints[{stop}].right")


def _check(spec: ScenarioSpec) -> None:
    durations.span_ms(spec.horizon)
    if spec.release is not msgspec.UNSET:
        read_release(spec.release)
    for index, checkpoint in enumerate(spec.checkpoints):
        _check_right(index, checkpoint)
        durations.span_ms(checkpoint.at)
        durations.span_ms(checkpoint.until or spec.horizon)
        durations.span_ms(checkpoint.shown or checkpoint.at)
    for expectation in spec.expect:
        if expectation.at:
            durations.span_ms(expectation.at)
    for shown in spec.shows:
        if shown.text not in TEXTS:
            known = ", ".join(TEXTS)
            wanted = Wanted.ONE_OF.said(known=known)
            raise QuantityError(expected(wanted, shown.text), "spec.shows")
        if shown.at:
            durations.span_ms(shown.at)
    for field in ("title", "summary"):
        if not getattr(spec, field).get(FALLBACK):
            raise QuantityError(
                expected(Wanted.UNDER.said(name=FALLBACK)), f"spec.{field}"
            )
