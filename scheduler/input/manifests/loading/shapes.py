"""The shape of an object: numbers that fit, and of which type metadata and status are.

A status comes with what kubectl printed of a cluster, and with a recording. What is
read of it later reads it without looking again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from scheduler.input.manifests.documents import Document
from scheduler.model import durations, ranges
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Wanted, expected
from scheduler.model.problems.validation import said_of_value

Count = Annotated[int, msgspec.Meta(ge=0, le=ranges.COUNT.most)]
Number = Annotated[int, ranges.meta(ranges.INTEGER)]
Amounts = dict[str, str | int | float]
_AT = re.compile(r"^(?P<problem>.*?)(?: - at `\$(?P<path>.*)`)?$", re.DOTALL)

_WORDS = {
    "str": "a text",
    "int": "a whole number",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "bool | str": "a text",
    "float": "a number",
}


class _Time:
    """A time as an API writes it; "" is none."""

    @staticmethod
    def read(kind: type, given: Any) -> _Time:
        """Return that it is one, for msgspec. Raises ValueError or TypeError."""
        del kind
        if not isinstance(given, str):
            raise TypeError(f"expected a time as a text, got {str(given)[:60]}")
        try:
            if given:
                durations.stamp_us(given)
        except QuantityError as error:
            raise ValueError(str(error)) from error
        return _Time()


class _Shape(msgspec.Struct, rename="camel"):
    """A part of an object; fields that nobody reads may be of any type."""


class _Condition(_Shape):
    type: str
    status: str | bool | None = None
    reason: str | None = None
    message: str | None = None
    last_transition_time: _Time | None = None
    observed_generation: Number | None = None


class _Domain(_Shape):
    values: list[str]
    count: Count


class _Written(_Shape):
    roots: list[str] | None = None
    prefix: str | None = None
    suffix: str | None = None


class _Column(_Shape):
    universal: str | None = None
    individual: _Written | None = None

    def holds(self, size: int) -> bool:
        """Return whether it has a value for each of `size` domains."""
        if self.universal is not None:
            return True
        return self.individual is not None and len(self.individual.roots or ()) == size


class _PodCounts(_Shape):
    universal: Count | None = None
    individual: list[Count] | None = None


class _Slice(_Shape):
    domain_count: Count = 0
    pod_counts: _PodCounts | None = None
    values_per_level: list[_Column] | None = None

    def __post_init__(self) -> None:
        counts, size = self.pod_counts or _PodCounts(), self.domain_count
        if counts.universal is None and len(counts.individual or ()) != size:
            raise ValueError(f"expected podCounts for {size} domains")
        if not all(column.holds(size) for column in self.values_per_level or ()):
            raise ValueError(f"expected valuesPerLevel for {size} domains")


class _Topology(_Shape):
    levels: list[str] | None = None
    domains: list[_Domain] | None = None
    slices: list[_Slice] | None = None

    def __post_init__(self) -> None:
        levels = len(self.levels or ())
        sizes = [len(one.values) for one in self.domains or ()]
        if any(size != levels for size in sizes):
            raise ValueError(f"expected values for {levels} levels")
        sizes = [len(one.values_per_level or ()) for one in self.slices or ()]
        if any(size != levels for size in sizes):
            raise ValueError(f"expected valuesPerLevel for {levels} levels")


class _PodSet(_Shape):
    name: str
    count: Count | None = None
    flavors: dict[str, str] | None = None
    resource_usage: Amounts | None = None
    topology_assignment: _Topology | None = None


class _Admission(_Shape):
    cluster_queue: str | None = None
    pod_set_assignments: list[_PodSet] | None = None


class _Reclaimable(_Shape):
    name: str
    count: Count | None = None


class _Update(_Shape):
    name: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    node_selector: dict[str, str] | None = None
    tolerations: list[dict[str, Any]] | None = None


class _Check(_Shape):
    name: str
    state: str | None = None
    message: str | None = None
    last_transition_time: _Time | None = None
    pod_set_updates: list[_Update] | None = None
    requeue_after_seconds: Number | None = None
    retry_count: Number | None = None


class _Requeue(_Shape):
    count: Count | None = None
    requeue_at: _Time | None = None


class _Gate(_Shape):
    name: str
    position: str | None = None
    last_transition_time: _Time | None = None


class _Named(_Shape):
    name: str


class _Eviction(_Shape):
    count: Count
    reason: str = ""
    underlying_cause: str = ""


class _Statistics(_Shape):
    evictions: list[_Eviction] | None = None


class _Reserved(_Shape):
    name: str
    total: str | int | float = 0


class _Flavor(_Shape):
    name: str
    resources: list[_Reserved] | None = None


class _Status(_Shape):
    phase: str | None = None
    start_time: _Time | None = None
    completion_time: _Time | None = None
    conditions: list[_Condition] | None = None
    admission: _Admission | None = None
    admission_checks: list[_Check] | None = None
    reclaimable_pods: list[_Reclaimable] | None = None
    preemption_gates: list[_Gate] | None = None
    unhealthy_nodes: list[_Named] | None = None
    flavors_reservation: list[_Flavor] | None = None
    requeue_state: _Requeue | None = None
    scheduling_stats: _Statistics | None = None
    accumulated_past_execution_time_seconds: Count | None = None
    accumulated_past_exexcution_time_seconds: Count | None = None  # of v1beta1
    container_statuses: list[dict[str, Any]] | None = None
    init_container_statuses: list[dict[str, Any]] | None = None
    nominated_node_name: str | None = None


class _Owner(_Shape):
    kind: str | None = None
    name: str | None = None
    uid: str | None = None
    controller: bool | None = None


class _Metadata(_Shape):
    uid: str | None = None
    generation: Number | None = None
    creation_timestamp: _Time | None = None
    deletion_timestamp: _Time | None = None
    owner_references: list[_Owner] | None = None


def check_shape(document: Document, *, status: bool) -> None:
    """Refuse metadata, and with `status` a status, of which a field is of a wrong type.

    Raises ManifestError that names the field, also for any status that is no object.
    Fields that nobody reads are not looked at.
    """
    _check(document, "metadata", _Metadata)
    _check(document, "status", _Status if status else _Shape)


def packed(document: Document) -> bytes:
    """Return a document as msgpack. Raises ManifestError for a number over 64 bits."""
    try:
        return msgspec.msgpack.encode(document.data)
    except OverflowError as error:
        path = next(_long(document.data), "")
        least, most = ranges.INTEGER
        problem = expected(Wanted.BITS_64.said(least=least, most=most))
        raise document.error(path, problem) from error


def _long(value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of the whole numbers that no field of an API holds."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _long(part, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _long(part, f"{path}[{index}]")
    elif isinstance(value, int) and value not in ranges.INTEGER:
        yield path


def _check(document: Document, name: str, shape: type[_Shape]) -> None:
    given = document.data.get(name)
    if given is None:
        return
    try:
        msgspec.convert(given, shape, strict=False, dec_hook=_Time.read)
    except msgspec.ValidationError as error:
        found = _AT.match(str(error))
        problem, path = (found["problem"], found["path"]) if found else (str(error), "")
        raise document.error(
            f"{name}{path or ''}", said_of_value(_plain(problem))
        ) from error


def _plain(problem: str) -> str:
    """Return what msgspec says in the words of the other checks."""
    found = problem[:1].lower() + problem[1:].replace(" | null", "")
    return re.sub(r"`([^`]*)`", lambda part: _WORDS.get(part[1], part[1]), found)
