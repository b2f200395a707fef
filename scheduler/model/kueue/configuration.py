"""Kueue's Configuration document: the switches that decide anything here.

Source: docs/semantics/kueue-lifecycle.md#configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from msgspec import UNSET

from scheduler.model import durations, registry
from scheduler.model.errors import PolicyError, QuantityError
from scheduler.model.kueue.feature_gates import (
    DEFAULT_FEATURE_GATES,
    DEFAULT_GATES,
    RELEASE_NAMES,
    TOPOLOGY_GATES,
    FeatureGates,
    TopologyGates,
    read_feature_gates,
    read_gates,
)
from scheduler.model.kueue.feature_gates import NAMES as FEATURE_NAMES
from scheduler.model.kueue.multikueue import FIELDS as MULTI_KUEUE_FIELDS
from scheduler.model.kueue.multikueue import read_multi_kueue
from scheduler.model.kueue.usage_settings import FIELDS as USAGE_FIELDS
from scheduler.model.kueue.usage_settings import (
    RESOURCE_FIELDS,
    RETENTION_FIELDS,
    RetentionSettings,
    UsageFairSharing,
    ignores_undeclared,
    read_retention,
    read_transform,
    read_usage_fair_sharing,
)
from scheduler.model.problems import Form, Problem, Wanted, expected
from scheduler.model.proposals import Chosen
from scheduler.model.releases.release import (
    NO_RELEASE,
    Release,
    api_version,
    check_gates,
    kueue_gates,
    reads,
    usual,
)
from scheduler.model.releases.rules import (
    EACH_FLAVOR,
    ERRORS_DO_NOT_FIT,
    EXACT_TRANSFORMATIONS,
    FLAVOR_EDITS,
    LEADER_FLAVOR,
    LEADER_ROOM,
    NO_CANDIDATES,
    PLAIN_PODS_END,
    POD_LEVEL,
    PODSETS_SHARE_PODS,
    PREFERENCE,
    REPLACEMENTS,
    SELECTORS,
    TERMINATING_STATUS,
    UNIFORM_BATCH,
    WaitingDefaults,
    waiting_defaults,
)
from scheduler.model.selectors import Requirement, Selector, read_selector
from scheduler.model.transformations import ResourceTransform

Document = Mapping[str, Any]

GROUP = "config.kueue.x-k8s.io"
VERSIONS = ("v1beta1", "v1beta2")
DEFAULT_STRATEGIES = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
#: Top-level fields that set up the real controller and decide nothing here.
KEPT = (
    "admissionFairSharing",
    "clientConnection",
    "controller",
    "fairSharing",
    "featureGates",
    "health",
    "integrations",
    "internalCertManagement",
    "leaderElection",
    "manageJobsWithoutQueueName",
    "managedJobsNamespaceSelector",
    "metrics",
    "multiKueue",
    "namespace",
    "objectRetentionPolicies",
    "pprofBindAddress",
    "queueVisibility",
    "resources",
    "tls",
    "visibilityServer",
    "waitForPodsReady",
    "webhook",
)
#: The sections of Kueue's own process: no Workload is admitted otherwise for them.
OF_PROCESS = frozenset(
    {
        "clientConnection",
        "controller",
        "health",
        "internalCertManagement",
        "leaderElection",
        "metrics",
        "namespace",
        "pprofBindAddress",
        "queueVisibility",
        "tls",
        "visibilityServer",
        "webhook",
    }
)
#: The sections that decide something here, and which of their fields do.
_SIMULATED = {
    "admissionFairSharing": USAGE_FIELDS,
    "fairSharing": ("enable", "preemptionStrategies"),
    "featureGates": (*TOPOLOGY_GATES, *FEATURE_NAMES),
    "integrations": ("frameworks", "labelKeysToCopy"),
    "managedJobsNamespaceSelector": ("matchExpressions", "matchLabels"),
    "multiKueue": MULTI_KUEUE_FIELDS,
    "objectRetentionPolicies": RETENTION_FIELDS,
    "resources": RESOURCE_FIELDS,
    "waitForPodsReady": (
        "blockAdmission",
        "enable",
        "recoveryTimeout",
        "requeuingStrategy",
        "timeout",
    ),
}
_FILLED_IN = ("timeout", "recoveryTimeout", "blockAdmission")
_REQUEUING = (
    "backoffBaseSeconds",
    "backoffLimitCount",
    "backoffMaxSeconds",
    "timestamp",
)
#: Kueue leaves the jobs of these namespaces alone where nothing else is said.
NOT_SYSTEM = Selector(
    (
        Requirement(
            "kubernetes.io/metadata.name", "NotIn", ("kube-system", "kueue-system")
        ),
    )
)
_SET_UP = ("apiVersion", "kind", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """waitForPodsReady: how long pods may take, and what happens then."""

    timeout_ms: int = 300_000
    recovery_ms: int | None = None  # None: pods that were lost may take for ever
    block: bool = False
    by_eviction: bool = True  # requeue by the time of eviction, else of creation
    limit: int | None = None  # retries before deactivation
    base_s: int = 60
    most_s: int = 3600
    left_out: tuple[str, ...] = ()  # fields that Kueue fills in by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the Configuration says, with Kueue's defaults."""

    version: str = "v1beta2"  # of the Configuration's API
    fair: bool = False
    strategies: tuple[str, ...] = DEFAULT_STRATEGIES
    waiting: Waiting | None = None
    copied_labels: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()  # integrations.frameworks; () where none is said
    unqueued_jobs: bool = False  # manageJobsWithoutQueueName
    managed_namespaces: Selector = NOT_SYSTEM  # managedJobsNamespaceSelector
    usage: UsageFairSharing | None = None  # admissionFairSharing
    transform: ResourceTransform | None = None  # resources
    ignores_undeclared: bool = False  # resources.quotaCheckStrategy
    topology_gates: TopologyGates = DEFAULT_GATES  # of featureGates
    gates: FeatureGates = DEFAULT_FEATURE_GATES  # of featureGates, too
    retention: RetentionSettings | None = None  # objectRetentionPolicies
    no_candidates_last: bool = True  # releases/rules.py: NO_CANDIDATES
    preference_as_written: bool = True  # releases/rules.py: PREFERENCE
    selectors_per_flavor: bool = True  # releases/rules.py: SELECTORS
    requeues_in_batches: bool = True  # releases/rules.py: UNIFORM_BATCH
    flavor_edits_requeue: bool = True  # releases/rules.py: FLAVOR_EDITS
    terminating_status: bool = True  # releases/rules.py: TERMINATING_STATUS
    pod_ends_requeue: bool = True  # releases/rules.py: PLAIN_PODS_END
    waits_for_replacements: bool = True  # releases/rules.py: REPLACEMENTS
    pod_limits_count: bool = True  # releases/rules.py: POD_LEVEL
    kept: tuple[str, ...] = ()  # fields given that are not simulated
    chosen: str = ""  # the policy's simulation.preemption
    proposal: Chosen | None = None  # the policy's simulation.proposal

    def with_defaults(self) -> Settings:
        """Return the settings with what Kueue fills into waitForPodsReady.

        Source: docs/semantics/kueue-lifecycle.md#podsready-timeout.
        """
        waiting = self.waiting
        if waiting is None:
            return self
        left_out = waiting.left_out
        first = self.version == "v1beta1"
        timeout, recovery = waiting.timeout_ms, waiting.recovery_ms
        if "timeout" in left_out and not first:
            timeout = 1_800_000
        if "recoveryTimeout" in left_out:
            recovery = timeout
        block = waiting.block or (first and "blockAdmission" in left_out)
        filled = replace(
            waiting, timeout_ms=timeout, recovery_ms=recovery, block=block, left_out=()
        )
        return replace(self, waiting=filled)

    @property
    def preemption(self) -> str:
        """Return the name of the preemption strategy that is in force."""
        return self.chosen or ("FairSharing" if self.fair else "Classical")


def _managed_namespaces(document: Document) -> Selector:
    given = _section(document, "managedJobsNamespaceSelector")
    return read_selector(given) if given else NOT_SYSTEM


def read_configuration(
    document: Document, decides_as: Release = NO_RELEASE
) -> Settings:
    """Return the settings; an empty document gives the defaults, those of its release.

    Raises PolicyError with the path of what is wrong, also of gates of no such release.
    """
    release = decides_as.kueue if decides_as.kueue is not UNSET else None
    version = _version(document, release)
    given_gates = _section(document, "featureGates")
    if release is not None:
        check_gates(given_gates, release)
    unknown = sorted(set(document) - set(KEPT) - set(_SET_UP))
    if unknown:
        raise PolicyError(
            Form.UNKNOWN.said(known=", ".join(KEPT)), f"kueue.{unknown[0]}"
        )
    fair = _enabled(document, "fairSharing", version)
    waiting = _enabled(document, "waitForPodsReady", version)
    integrations = _section(document, "integrations")
    read_multi_kueue(_section(document, "multiKueue"))  # its stage reads it again
    resources = _section(document, "resources")
    is_used = document.get("admissionFairSharing") is not None
    usage = _section(document, "admissionFairSharing") if is_used else None
    gates = replace(
        read_feature_gates(given_gates, release),
        borrows_by_flavor=EACH_FLAVOR.holds(decides_as),
    )
    return Settings(
        version=version,
        fair=fair is not None,
        strategies=_strategies(fair or {}),
        waiting=_waiting_in(waiting, version, release, gates),
        copied_labels=tuple(integrations.get("labelKeysToCopy") or ()),
        frameworks=tuple(integrations.get("frameworks") or ()),
        unqueued_jobs=bool(document.get("manageJobsWithoutQueueName", False)),
        managed_namespaces=_managed_namespaces(document),
        usage=read_usage_fair_sharing(usage),
        transform=_transform(resources, decides_as),
        ignores_undeclared=ignores_undeclared(resources) and gates.quota_check,
        topology_gates=read_gates(
            given_gates,
            release,
            leader_room=LEADER_ROOM.holds(decides_as),
            leader_flavor=LEADER_FLAVOR.holds(decides_as),
            podsets_share_pods=PODSETS_SHARE_PODS.holds(decides_as),
            errors_do_not_fit=ERRORS_DO_NOT_FIT.holds(decides_as),
        ),
        gates=gates,
        retention=read_retention(_section(document, "objectRetentionPolicies")),
        no_candidates_last=NO_CANDIDATES.holds(decides_as),
        preference_as_written=PREFERENCE.holds(decides_as),
        selectors_per_flavor=SELECTORS.holds(decides_as),
        requeues_in_batches=UNIFORM_BATCH.holds(decides_as),
        flavor_edits_requeue=FLAVOR_EDITS.holds(decides_as),
        terminating_status=TERMINATING_STATUS.holds(decides_as),
        pod_ends_requeue=PLAIN_PODS_END.holds(decides_as),
        waits_for_replacements=REPLACEMENTS.holds(decides_as),
        pod_limits_count=POD_LEVEL.holds(decides_as),
        kept=tuple(_kept(document, release)),
    )


def _transform(resources: Document, decides_as: Release) -> ResourceTransform | None:
    found = read_transform(resources)
    if found is None:
        return None
    return replace(found, exact=EXACT_TRANSFORMATIONS.holds(decides_as))


def _version(document: Document, release: str | None = None) -> str:
    newest = "v1beta2" if release is None else api_version(release)
    given = document.get("apiVersion", f"{GROUP}/{newest}")
    known = [f"{GROUP}/{version}" for version in VERSIONS]
    if given not in known:
        raise PolicyError(
            expected(Wanted.LITERAL.said(literal=" or ".join(known)), given),
            "kueue.apiVersion",
        )
    version = str(given).rpartition("/")[2]
    if release is not None and not reads(version, release):
        raise PolicyError(
            Problem.CONFIGURATION_VERSION.said(release=release, given=version),
            "kueue.apiVersion",
        )
    return version


def _section(document: Document, name: str) -> Document:
    section = document.get(name)
    if section is None:
        return {}
    if not isinstance(section, Mapping):
        raise PolicyError(expected(Wanted.OBJECT, section), f"kueue.{name}")
    return section


def _enabled(document: Document, name: str, version: str) -> Document | None:
    """Return a section that is on: in v1beta1 by `enable`, later by being there."""
    if document.get(name) is None:
        return None
    section = _section(document, name)
    if version == "v1beta1" and not section.get("enable", False):
        return None
    return section


def _strategies(section: Document) -> tuple[str, ...]:
    given = section.get("preemptionStrategies")
    if not given:
        return DEFAULT_STRATEGIES
    known = [entry.name for entry in registry.entries("fair-strategy")]
    path = "kueue.fairSharing.preemptionStrategies"
    for index, name in enumerate(given):
        if name not in known:
            raise PolicyError(
                expected(Wanted.ONE_OF.said(known=", ".join(known)), name),
                f"{path}[{index}]",
            )
    if len(set(given)) != len(given) or tuple(given) == DEFAULT_STRATEGIES[::-1]:
        raise PolicyError(Problem.STRATEGIES.said(known=list(DEFAULT_STRATEGIES)), path)
    return tuple(given)


def _waiting_in(
    section: Document | None, version: str, release: str | None, gates: FeatureGates
) -> Waiting | None:
    """Return waitForPodsReady with what that release fills in; None where it is off."""
    if release is None:
        return None if section is None else _waiting(section)
    filled = waiting_defaults(version, Release(kueue=release))
    if gates.waits_for_no_pods or (section is None and not filled.on):
        return None
    return _filled(_waiting(section or {}), filled)


def _filled(waiting: Waiting, by: WaitingDefaults) -> Waiting:
    """Return a section with the defaults of a release, as `with_defaults` has ours."""
    left_out = waiting.left_out
    if by.timeout_ms is None and "timeout" in left_out:
        raise PolicyError(
            Form.GOT_NONE.said(wanted=Wanted.LENGTH), "kueue.waitForPodsReady.timeout"
        )
    timeout = waiting.timeout_ms
    if by.timeout_ms is not None and "timeout" in left_out:
        timeout = by.timeout_ms
    recovery = waiting.recovery_ms
    if by.recovers and "recoveryTimeout" in left_out:
        recovery = timeout
    block = waiting.block or (by.blocks and "blockAdmission" in left_out)
    return replace(
        waiting, timeout_ms=timeout, recovery_ms=recovery, block=block, left_out=()
    )


def _waiting(section: Document) -> Waiting:
    path = "kueue.waitForPodsReady"
    strategy = section.get("requeuingStrategy") or {}
    timestamp = strategy.get("timestamp") or "Eviction"
    if timestamp not in ("Eviction", "Creation"):
        raise PolicyError(
            expected(Wanted.CHOICE.said(first="Eviction", last="Creation"), timestamp),
            f"{path}.requeuingStrategy.timestamp",
        )
    timeout = _milliseconds(section, "timeout", path)
    return Waiting(
        timeout_ms=300_000 if timeout is None else timeout,
        recovery_ms=_milliseconds(section, "recoveryTimeout", path) or None,
        block=bool(section.get("blockAdmission", False)),
        left_out=tuple(name for name in _FILLED_IN if section.get(name) is None),
        by_eviction=timestamp == "Eviction",
        limit=_count(strategy, "backoffLimitCount", path),
        base_s=_count(strategy, "backoffBaseSeconds", path, default=60) or 0,
        most_s=_count(strategy, "backoffMaxSeconds", path, default=3600) or 0,
    )


def _milliseconds(section: Document, name: str, path: str) -> int | None:
    text = section.get(name)
    if text is None:
        return None
    try:
        return durations.milliseconds(text)
    except QuantityError as error:
        raise PolicyError(error.said, f"{path}.{name}") from error


def _count(
    section: Document, name: str, path: str, default: int | None = None
) -> int | None:
    value = section.get(name, default)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise PolicyError(
            expected(Wanted.COUNT_OR_MORE.said(least="0"), value),
            f"{path}.requeuingStrategy.{name}",
        )
    return value


def _kept(document: Document, release: str | None) -> Iterator[str]:
    """Yield the paths of fields that are kept and not simulated, at any depth."""
    for name in sorted(document):
        if name in _SIMULATED:
            section = _section(document, name)
            known = (*_SIMULATED[name], *_as_it_is(section, name, release))
            yield from _others(section, known, name)
            requeuing = section.get("requeuingStrategy")
            if isinstance(requeuing, Mapping):
                yield from _others(requeuing, _REQUEUING, f"{name}.requeuingStrategy")
        elif name not in (*_SET_UP, "manageJobsWithoutQueueName"):
            yield name


def _as_it_is(section: Document, name: str, release: str | None) -> Iterator[str]:
    """Yield the gates of a section that need no word: given as they are anyway.

    What such a gate switches off is not followed; as it is by default, it is.
    """
    if name != "featureGates":
        return
    if release is not None:
        yield from RELEASE_NAMES
    for gate, on in section.items():
        if bool(on) is _usual(gate, release):
            yield gate


def _usual(gate: str, release: str | None) -> bool | None:
    """Return what a gate is that is not given."""
    known = kueue_gates(release).get(gate) if release is not None else None
    return usual(gate) if known is None else known.on


def _others(section: Document, known: tuple[str, ...], path: str) -> Iterator[str]:
    return (f"{path}.{part}" for part in sorted(section) if part not in known)
