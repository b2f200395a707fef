"""Every strategy switch of a sandbox, as one document in the real formats."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from scheduler.model import durations, ranges, registry
from scheduler.model.admission_check import CheckRule, check_rules
from scheduler.model.durations import NEVER, read_span
from scheduler.model.errors import PolicyError, QuantityError, UnknownNameError
from scheduler.model.kueue.feature_gates import usual_gates
from scheduler.model.latencies import Latencies, read_latencies
from scheduler.model.problems import Form, Wanted, expected, in_field
from scheduler.model.problems.validation import said_of_value
from scheduler.model.proposals import Chosen
from scheduler.model.releases.release import NO_RELEASE, Release, read_release

Stack = Literal["kueue", "yunikorn", "kube"]
#: Where a request says which stack it means, and where an error asks for it.
STACK_FIELD = "policy.stack"
Laws = Literal["released", "documented"]
Binding = Literal["kubernetes", "compare-and-set"]
Locking = Literal["optimistic", "pessimistic"]


def _absent(default: object) -> msgspec.Meta:
    """Return what tells forms the value that holds where a field is not given."""
    return msgspec.Meta(extra_json_schema={"default": default})


_LATENCY = msgspec.Meta(
    ge=0,
    extra_json_schema={"default": 0},
    title="How long a call of an extender takes",
    description="In milliseconds of virtual time; a scheduler waits for the answer.",
)

_SPARES = msgspec.Meta(
    title="Nodes on which an extender lets nobody be preempted",
    description="Names of nodes whose victims the preemptVerb keeps.",
)


class ExtenderAnswers(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """What an extender at `url_prefix` answers, stated instead of asked.

    Nodes of `refuse` are filtered out with their message, `scores` are 0 to 10
    by node, nodes of `spares` are no place to preempt on, `error` fails every call,
    and `latency_ms` is how long each takes in virtual time.
    """

    url_prefix: str
    refuse: dict[str, str] = {}
    scores: dict[str, Annotated[int, ranges.meta(ranges.EXTENDER_SCORE)]] = {}
    spares: Annotated[list[str], _SPARES] | msgspec.UnsetType = msgspec.UNSET
    error: str = ""
    latency_ms: Annotated[int, _LATENCY] | msgspec.UnsetType = msgspec.UNSET


Expander = Literal[
    "least-waste", "priority", "price", "most-pods", "least-nodes", "random"
]
Count = Annotated[int, msgspec.Meta(ge=0, le=1000)]


class Failures(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """Failures as a process, drawn from the seed for each node and each domain.

    Each node fails after a time with the mean `meanTimeBetween` since it came or
    was repaired, and is back after `repair`. The nodes that share a value of the
    label `domain` (a rack) also fail at once, `domainMeanTimeBetween` apart, for
    `domainRepair`. `nodes` are labels that a node must have to fail at all.
    """

    mean_time_between: str = "never"
    repair: str = "30m"
    domain: str = ""
    domain_mean_time_between: str = "never"
    domain_repair: str = "1h"
    nodes: dict[str, str] = {}


def check_failures(failures: Failures) -> None:
    """Refuse lengths that are none, and a domain without its times; PolicyError."""
    for name in (
        "mean_time_between",
        "repair",
        "domain_mean_time_between",
        "domain_repair",
    ):
        _check_length(name, getattr(failures, name))
    if (failures.domain_mean_time_between != "never") and not failures.domain:
        raise PolicyError(
            in_field(
                "simulation.failures.domain",
                Form.GOT_NONE.said(wanted=Wanted.FAILURE_DOMAIN),
            ),
            "policy",
        )


def _check_length(name: str, text: str) -> None:
    first, *rest = name.split("_")
    path = f"policy: simulation.failures.{first}{''.join(w.title() for w in rest)}"
    try:
        span = read_span(text)
    except QuantityError as error:
        raise PolicyError(error.said, path) from error
    mean = name.endswith("between")
    if mean and (span.shape != "fixed" or not 0 < span.values[0] <= NEVER):
        raise PolicyError(expected(Wanted.MEAN, text), path)


class Autoscaler(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """How often it looks, which group it picks, and how it gives nodes back."""

    scan_interval: str = "10s"
    # A list: a document with a tuple would differ from the same one stored as JSON.
    expanders: Annotated[list[Expander], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: ["least-waste"]
    )
    balance_similar_node_groups: bool = False
    max_node_provision_time: str = "15m"
    scale_down: bool = True
    scale_down_delay_after_add: str = "10m"
    max_empty_at_once: Count = 10
    max_drained_at_once: Count = 1


def check_autoscaler(autoscaler: Autoscaler) -> None:
    """Refuse lengths that are none; PolicyError with the path."""
    for field, text in (
        ("scanInterval", autoscaler.scan_interval),
        ("scaleDownDelayAfterAdd", autoscaler.scale_down_delay_after_add),
        ("maxNodeProvisionTime", autoscaler.max_node_provision_time),
    ):
        path = f"policy: simulation.autoscaler.{field}"
        try:
            span = read_span(text)
        except QuantityError as error:
            raise PolicyError(error.said, path) from error
        zero = span.zero and field != "scaleDownDelayAfterAdd"
        if span.shape != "fixed" or zero:
            raise PolicyError(
                expected(Wanted.LENGTH_ABOVE.said(least="0s"), text), path
            )


_BINDING = msgspec.Meta(
    title="How a binding is written",
    description=(
        "kubernetes: the last word is the node's, which refuses what does not fit. "
        "compare-and-set: a binding to a node that others changed meanwhile is a "
        "conflict, and the pod is tried again."
    ),
)
_LOCKING = msgspec.Meta(
    title="How several schedulers share the nodes",
    description=(
        "optimistic: all go on at once and conflicts are found when bindings are "
        "written. pessimistic: who chose a node locks it until the binding is "
        "written, and the others wait or go elsewhere."
    ),
)


_PREEMPTION = msgspec.Meta(
    title="Who is preempted under Kueue",
    description="A strategy that enrolled as `preemption`; that of kueue.fairSharing.",
)

#: "annotations" alone, or also `sleep` commands, deadlines, or both in this order.
RunTimesFrom = Literal["annotations", "sleep", "deadline", "sleep-deadline"]


class Simulation(
    msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True
):
    """How virtual time runs. Durations are Go durations ("60s", "1m30s")."""

    tick_ms: Annotated[int, ranges.meta(ranges.TICK_MS)] = 1000
    default_runtime: str = "60s"
    # What else is read of work without a run time; absent: annotations alone.
    run_times_from: (
        Annotated[RunTimesFrom, _absent("annotations")] | msgspec.UnsetType
    ) = msgspec.UNSET
    bind_latency_ms: Annotated[int, ranges.meta(ranges.LATENCY_MS)] = 0
    pod_start_ms: Annotated[int, ranges.meta(ranges.LATENCY_MS)] = 0
    binding: Annotated[Binding, _BINDING] = "kubernetes"
    locking: Annotated[Locking, _LOCKING] = "optimistic"
    start_time: str = "2026-01-01T00:00:00Z"  # the wall time of virtual 0
    nodes_schedule: bool = True  # place pods when there are Node objects
    extenders: list[ExtenderAnswers] = []
    extender_latency_ms: Annotated[int, _LATENCY] | msgspec.UnsetType = msgspec.UNSET
    # Absent in what was stored before there were any: every step takes no time.
    latencies: Latencies | msgspec.UnsetType = msgspec.UNSET
    # What a job does that does not say it itself; absent: no checkpoints.
    checkpoint_every: Annotated[str, _absent("never")] | msgspec.UnsetType = (
        msgspec.UNSET
    )
    restart_takes: Annotated[str, _absent("0s")] | msgspec.UnsetType = msgspec.UNSET
    admission_checks: list[CheckRule] | msgspec.UnsetType = msgspec.UNSET
    autoscaler: Autoscaler | msgspec.UnsetType = msgspec.UNSET
    failures: Failures | msgspec.UnsetType = msgspec.UNSET  # absent: no node fails
    preemption: Annotated[str, _PREEMPTION] | msgspec.UnsetType = msgspec.UNSET
    proposal: Chosen | msgspec.UnsetType = msgspec.UNSET  # decides in place of releases

    def reads_run_times(self) -> RunTimesFrom:
        """Return which fields give a run time at import to work without one."""
        given = self.run_times_from
        return "annotations" if given is msgspec.UNSET else given


class YuniKorn(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """Which laws of preemption hold, and the queues.yaml document."""

    laws: Laws = "released"
    queues: dict[str, Any] = {}


#: Of Kueue's Configuration what the forms of the page ask for, with Kueue's defaults.
_KUEUE = msgspec.Meta(
    extra_json_schema={
        "properties": {
            "waitForPodsReady": {
                "properties": {
                    "timeout": {"type": "string", "default": "5m"},
                    "blockAdmission": {"type": "boolean", "default": False},
                }
            },
            "featureGates": {
                "properties": {
                    name: {"type": "boolean", "default": on}
                    for name, on in usual_gates().items()
                }
            },
        }
    }
)


class PolicySpec(
    msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True
):
    """The switches; `kueue` and `kubeScheduler` are the real configuration files."""

    stack: Stack = "kueue"
    kueue: Annotated[dict[str, Any], _KUEUE] = {}
    kube_scheduler: dict[str, Any] = {}
    yunikorn: YuniKorn = YuniKorn()
    simulation: Simulation = Simulation()
    # Absent: the world decides as it did before there were releases.
    release: Release | msgspec.UnsetType = msgspec.UNSET

    def decides_as(self) -> Release:
        """Return the releases that are given; none of a world without."""
        return NO_RELEASE if self.release is msgspec.UNSET else self.release

    def proposed(self) -> Chosen | None:
        """Return the proposal that decides something; None where releases decide all."""
        chosen = self.simulation.proposal
        if isinstance(chosen, msgspec.UnsetType):
            return None
        return chosen if chosen.decides_under(self.stack) else None


class Policy(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True):
    """The whole document."""

    api_version: Literal["quotalab.dev/v1"] = "quotalab.dev/v1"
    kind: Literal["Policy"] = "Policy"
    spec: PolicySpec = PolicySpec()

    def document(self) -> dict[str, Any]:
        """Return the policy as a plain document, defaults written out."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


def read_policy(document: dict[str, Any]) -> Policy:
    """Return the policy; unknown keys and wrong values are a PolicyError with path."""
    try:
        policy = msgspec.convert(document, Policy)
    except msgspec.ValidationError as error:
        raise PolicyError(said_of_value(str(error)), "policy") from error
    latencies = policy.spec.simulation.latencies
    if latencies is not msgspec.UNSET:
        read_latencies(latencies)
    for name in ("checkpoint_every", "restart_takes"):
        _check_span(policy.spec.simulation, name)
    rules = policy.spec.simulation.admission_checks
    if rules is not msgspec.UNSET:
        check_rules(rules)
    if not isinstance(policy.spec.simulation.autoscaler, msgspec.UnsetType):
        check_autoscaler(policy.spec.simulation.autoscaler)
    if not isinstance(policy.spec.simulation.failures, msgspec.UnsetType):
        check_failures(policy.spec.simulation.failures)
    _check_preemption(policy.spec.simulation.preemption)
    if not isinstance(policy.spec.simulation.proposal, msgspec.UnsetType):
        policy.spec.simulation.proposal.made()
    _check_start_time(policy.spec.simulation.start_time)
    # Releases are stored only where the policy names one.
    given = policy.spec.release
    if given is msgspec.UNSET:
        return policy
    known = read_release(given)
    release = msgspec.UNSET if known == NO_RELEASE else known
    spec = msgspec.structs.replace(policy.spec, release=release)
    return msgspec.structs.replace(policy, spec=spec)


def _check_preemption(name: str | msgspec.UnsetType) -> None:
    if name is msgspec.UNSET:
        return
    try:
        registry.lookup("preemption", name)
    except UnknownNameError as error:
        raise PolicyError(error.said, "policy: simulation.preemption") from error


def _check_start_time(text: str) -> None:
    place = "policy: simulation.startTime"
    try:
        start = durations.stamp_us(text)
    except QuantityError as error:
        raise PolicyError(error.said, place) from error
    if start not in ranges.START_TIME_US:
        raise PolicyError(
            expected(Wanted.TIME_WITHIN.said(least="1970", most="2999"), text), place
        )


def _check_span(simulation: Simulation, name: str) -> None:
    text = getattr(simulation, name)
    if text is msgspec.UNSET:
        return
    try:
        read_span(text)
    except QuantityError as error:
        path = name.split("_")[0] + name.split("_")[1].capitalize()
        raise PolicyError(
            in_field(f"simulation.{path}", error.said), "policy"
        ) from error
