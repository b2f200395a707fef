"""One extender as KubeSchedulerConfiguration describes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.model.durations import milliseconds
from scheduler.model.errors import PolicyError
from scheduler.model.pod import Pod
from scheduler.model.problems import Form, Wanted, expected
from scheduler.model.problems.validation import said_of_value


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
        """Return whether it is asked about this pod."""
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
