"""KubeSchedulerConfiguration as a whole: profiles, backoff, extenders, schedulers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from scheduler.model.durations import milliseconds
from scheduler.model.errors import PolicyError
from scheduler.model.kube.older_names import (
    FIT,
    ConfigurationNotice,
    Notice,
    modernized,
)
from scheduler.model.kube.profiles import Profile, plugin_class, read_profiles
from scheduler.model.pod import Pod
from scheduler.model.problems import Form, Problem, Wanted, expected
from scheduler.model.problems.validation import said_of_value
from scheduler.model.releases.release import NO_RELEASE, Release
from scheduler.model.releases.rules import BACKOFF_POP

_API_GROUP = "kubescheduler.config.k8s.io/"
_KNOWN = (
    "apiVersion",
    "kind",
    "profiles",
    "percentageOfNodesToScore",
    "podInitialBackoffSeconds",
    "podMaxBackoffSeconds",
    "extenders",
    "parallelism",
    "leaderElection",
    "clientConnection",
    "enableProfiling",
    "enableContentionProfiling",
    "healthzBindAddress",
    "metricsBindAddress",
    "delayCacheUntilActive",
    "featureGates",
    "metadata",
)
#: Arguments of NodeResourceTopologyMatch that say how old its view of zones may be.
_ZONES = "NodeResourceTopologyMatch"
_CACHE_ARGS = ("cacheResyncPeriodSeconds", "discardReservedNodes", "cache")
_POP_GATE = "SchedulerPopFromBackoffQ"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackoffSettings:
    """Backoff, and whether an idle scheduler cuts it short."""

    initial_ms: int = 1_000
    max_ms: int = 10_000
    pop_from_backoff: bool = True


@dataclass(slots=True, kw_only=True)
class Configuration:
    """What one scheduler is configured with."""

    profiles: list[Profile]
    timing: BackoffSettings = field(default_factory=BackoffSettings)
    extenders: list[Extender] = field(default_factory=list)


def read_configurations(
    document: Mapping[str, Any], decides_as: Release = NO_RELEASE
) -> list[Configuration]:
    """Return one configuration per scheduler, with the defaults of its release.

    A `List` of KubeSchedulerConfiguration documents is several schedulers over
    one cluster; a schedulerName belongs to one of them.
    """
    items = [document]
    if document.get("kind") == "List":
        items = list(document.get("items") or [])
        if not items:
            raise PolicyError(
                Form.GOT_NONE.said(wanted=Wanted.CONFIGURATION), "kubeScheduler.items"
            )
    found = [_read(item, decides_as) for item in items]
    seen: set[str] = set()
    for configuration in found:
        for profile in configuration.profiles:
            if profile.scheduler_name in seen:
                raise PolicyError(
                    Problem.TWO_SCHEDULERS.said(name=repr(profile.scheduler_name)),
                    "kubeScheduler",
                )
            seen.add(profile.scheduler_name)
    return found


def notices(document: Mapping[str, Any]) -> list[Notice]:
    """Return what a configuration says in older names, and what of it has no effect.

    It must be a valid one.
    """
    return [*modernized(document)[1], *_without_effect(document)]


def _without_effect(document: Mapping[str, Any]) -> Iterator[Notice]:
    for number, profile in enumerate(document.get("profiles") or ()):
        for index, entry in enumerate(profile.get("pluginConfig") or ()):
            known = _CACHE_ARGS if entry.get("name") == _ZONES else ()
            for name in known:
                if name in (entry.get("args") or {}):
                    path = f"profiles[{number}].pluginConfig[{index}].args.{name}"
                    yield Notice(
                        path, ConfigurationNotice.NO_CACHE.said(), ignored=True
                    )


def _read(given: Mapping[str, Any], decides_as: Release) -> Configuration:
    document, _ = modernized(given)
    for key in document:
        if key not in _KNOWN:
            known = ", ".join(_KNOWN)
            raise PolicyError(
                Form.THIS_KEY.said(name=repr(key), known=known), "kubeScheduler"
            )
    version = str(document.get("apiVersion") or _API_GROUP)
    if not version.startswith(_API_GROUP):
        raise PolicyError(
            expected(Wanted.LITERAL.said(literal=f"{_API_GROUP}v1"), version),
            "kubeScheduler.apiVersion",
        )
    extenders = read_extenders(document.get("extenders"))
    configuration = Configuration(
        profiles=read_profiles(document),
        timing=_timing(document, decides_as),
        extenders=extenders,
    )
    _ignore_managed(configuration)
    return configuration


def _timing(document: Mapping[str, Any], decides_as: Release) -> BackoffSettings:
    """Return the backoff. The gate is read as the command line gives it."""
    initial = document.get("podInitialBackoffSeconds")
    highest = document.get("podMaxBackoffSeconds")
    gates = document.get("featureGates") or {}
    timing = BackoffSettings(
        initial_ms=1000 if initial is None else int(initial) * 1000,
        max_ms=10_000 if highest is None else int(highest) * 1000,
        pop_from_backoff=bool(gates.get(_POP_GATE, BACKOFF_POP.holds(decides_as))),
    )
    if timing.max_ms and timing.max_ms < timing.initial_ms:
        raise PolicyError(
            Problem.BACKOFF.said(least=timing.initial_ms // 1000, given=highest),
            "kubeScheduler.podMaxBackoffSeconds",
        )
    return timing


def _ignore_managed(configuration: Configuration) -> None:
    """Keep NodeResourcesFit from what an extender says it looks after."""
    names = [
        resource.name
        for extender in configuration.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    ]
    if not names:
        return
    for profile in configuration.profiles:
        args: Any = profile.args.setdefault(FIT, plugin_class(FIT).args_type())
        args.ignored_resources = [*args.ignored_resources, *names]


# ------------------------------------------------------------------------
# One extender as KubeSchedulerConfiguration describes it.


class ManagedResource(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A resource that the extender looks after."""

    name: str
    ignored_by_scheduler: bool = False


class Extender(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """One webhook, as in KubeSchedulerConfiguration; no verb means not asked."""

    url_prefix: str = ""
    filter_verb: str = ""
    prioritize_verb: str = ""
    preempt_verb: str = ""
    bind_verb: str = ""
    weight: int = 0
    enable_https: bool = msgspec.field(name="enableHTTPS", default=False)
    tls_config: dict[str, Any] | None = msgspec.field(name="tlsConfig", default=None)
    http_timeout: str = msgspec.field(name="httpTimeout", default="5s")
    node_cache_capable: bool = False
    managed_resources: list[ManagedResource] = []
    ignorable: bool = False

    @property
    def timeout_ms(self) -> int:
        """Return how long a call may take."""
        return milliseconds(self.http_timeout) or 5000

    def wants(self, pod: Pod) -> bool:
        """Return whether the extender is asked about a pod."""
        managed = {resource.name for resource in self.managed_resources}
        if not managed:
            return True
        return any(managed & set(c.resources) for c in pod.shape.containers)


def read_extenders(items: list[Mapping[str, Any]] | None) -> list[Extender]:
    """Return the extenders, ignorable ones last. Raises PolicyError with the path."""
    found = []
    for index, item in enumerate(items or ()):
        path = f"extenders[{index}]"
        try:
            extender = msgspec.convert(dict(item), Extender)
        except msgspec.ValidationError as problem:
            raise PolicyError(said_of_value(str(problem)), path) from problem
        if not extender.url_prefix:
            raise PolicyError(
                Form.GOT_NONE.said(wanted=Wanted.ADDRESS), f"{path}.urlPrefix"
            )
        if extender.prioritize_verb and extender.weight <= 0:
            raise PolicyError(
                expected(Wanted.AT_LEAST.said(least="1"), given=extender.weight),
                f"{path}.weight",
            )
        found.append(extender)
    if sum(bool(extender.bind_verb) for extender in found) > 1:
        raise PolicyError(expected(Wanted.ONE_BINDER), "extenders")
    return sorted(found, key=lambda extender: extender.ignorable)
