"""SimKube's `.sktrace`: objects of a cluster as they were applied and deleted.

The file is MessagePack; it comes here as the JSON that `scheduler/input/files/unpacking.py` makes
of it: a map whose keys are not texts is a list of pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.input.manifests.kinds import BY_KIND
from scheduler.input.traces.options import Trace, TraceJob, TraceOptions
from scheduler.model.annotations import ARRIVAL
from scheduler.model.errors import ManifestError, SourceLocation
from scheduler.model.jobs import QUEUE
from scheduler.model.problems import FileProblem
from scheduler.model.registry import register
from scheduler.model.sentence import Sentence
from scheduler.words.traces import LeftOut, Taken

#: They run until they are deleted, whatever their pods did.
_SERVICES = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"})
_VERSION = 2

Identity = tuple[str, str]  # kind, namespace/name


@register(
    "trace",
    "simkube",
    label="SimKube trace",
    help="*.sktrace: the objects of a cluster as they came and went.",
)
class SimKube:
    """Traces that SimKube's tracer exports.

    Source: <https://simkube.dev/simkube/docs/ref/trace-format/>
    """

    @staticmethod
    def recognises(file: str, text: str) -> bool:
        """Return whether the name says so."""
        del text
        return file.lower().endswith(".sktrace")

    @staticmethod
    def read(text: str, file: str, options: TraceOptions) -> Trace:
        """Return the objects with the times at which they were applied."""
        del options
        return _Reader(_decoded(text, file), file).trace


def _decoded(text: str, file: str) -> dict[str, Any]:
    place = SourceLocation(file=file, line=1)
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        problem = FileProblem.SIMKUBE.said(problem=error)
        raise ManifestError(problem, place=place) from error
    if not isinstance(found, dict) or not isinstance(found.get("events"), list):
        problem = FileProblem.SIMKUBE_VERSION.said(least=_VERSION)
        raise ManifestError(problem, place=place)
    return found


class _Reader:
    """Walks the events: what is applied first comes, what is applied again changes."""

    def __init__(self, data: dict[str, Any], file: str) -> None:
        self.trace = Trace(file=file, columns=["namespace", "kind", "queue"])
        self.trace.fields = {"queue": "queue"}
        self.runs = _run_times(data.get("pod_lifecycles"))
        self.present: dict[Identity, Mapping[str, Any]] = {}
        self.changes = 0
        events = list(data["events"])
        times = [_time(event) for event in events]
        self.begin = min((at for at in times if at is not None), default=0.0)
        for number, (event, at) in enumerate(zip(events, times, strict=True), start=1):
            if at is None:
                self._leave_out(number, LeftOut.EVENT, LeftOut.NO_TIME)
            else:
                self._event(number, at - self.begin, event)
        self.trace.said.append(Taken.EVENTS.said(events=len(events)))

    def _leave_out(self, number: int, part: LeftOut, why: LeftOut) -> None:
        self.trace.leave_out(number, part.said(), why.said())

    def _event(self, number: int, at_s: float, event: dict[str, Any]) -> None:
        for obj in event.get("applied_objs") or ():
            self._applied(number, at_s, obj)
        for obj in event.get("deleted_objs") or ():
            self._deleted(number, at_s, obj)

    def _applied(self, number: int, at_s: float, obj: Any) -> None:
        identity = _identity(obj)
        if identity is None:
            self._leave_out(number, LeftOut.OBJECT, LeftOut.NO_NAME)
            return
        before = self.present.get(identity)
        self.present[identity] = obj
        if before is None:
            self.trace.jobs.append(self._job(number, at_s, identity, obj))
        elif before.get("spec") != obj.get("spec"):
            patch = {"patch": {"spec": obj.get("spec") or {}}}
            self._change(number, at_s, identity, patch)
        elif _named(before) != _named(obj):
            self.trace.leave_out(number, _change_of(identity), LeftOut.LABELS.said())

    def _deleted(self, number: int, at_s: float, obj: Any) -> None:
        identity = _identity(obj)
        if identity is None or identity not in self.present:
            self._leave_out(number, LeftOut.DELETION, LeftOut.NOBODY)
            return
        del self.present[identity]
        self._change(number, at_s, identity, {"delete": True})

    def _change(
        self, number: int, at_s: float, identity: Identity, doing: dict[str, Any]
    ) -> None:
        kind, path = identity
        if kind not in BY_KIND:
            self.trace.leave_out(number, _change_of(identity), LeftOut.KIND.said())
            return
        namespace, _, name = path.rpartition("/")
        target = {"kind": kind, "name": name, "namespace": namespace}
        self.changes += 1
        manifest = {
            "apiVersion": "quotalab.dev/v1",
            "kind": "Change",
            "metadata": {
                "name": f"trace-change-{self.changes}",
                "annotations": {ARRIVAL: f"{round(at_s * 1000)}ms"},
            },
            "spec": {"target": target, **doing},
        }
        self.trace.documents.append((number, manifest))

    def _job(
        self, number: int, at_s: float, identity: Identity, obj: Mapping[str, Any]
    ) -> TraceJob:
        kind, path = identity
        namespace, _, name = path.rpartition("/")
        metadata = obj.get("metadata") or {}
        queue = (metadata.get("labels") or {}).get(QUEUE, "")
        values = {"namespace": namespace, "kind": kind, "queue": queue}
        return TraceJob(
            line=number,
            name=name,
            submit_s=at_s,
            run_s=None if kind in _SERVICES else self.runs.get(identity),
            queue=queue,
            values={key: value for key, value in values.items() if value},
            manifest=obj,
        )


def _time(event: Any) -> float | None:
    given = event.get("ts") if isinstance(event, dict) else None
    return float(given) if isinstance(given, int | float) else None


def _change_of(identity: Identity) -> Sentence:
    kind, name = identity
    return LeftOut.CHANGE.said(kind=kind, name=name)


def _named(obj: Mapping[str, Any]) -> list[Any]:
    return [obj["metadata"].get(part) or {} for part in ("labels", "annotations")]


def _identity(obj: Any) -> Identity | None:
    if not isinstance(obj, dict):
        return None
    metadata = obj.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not name or not obj.get("kind") or not obj.get("apiVersion"):
        return None
    return str(obj["kind"]), f"{metadata.get('namespace') or ''}/{name}"  # type: ignore[union-attr]


def _run_times(lifecycles: Any) -> dict[Identity, float]:
    """Return the longest run of the pods of each object, in seconds."""
    found: dict[Identity, float] = defaultdict(float)
    for owner, pods in _pairs(lifecycles):
        if isinstance(owner, list) and len(owner) == 2:
            kind = str(owner[0]).rpartition(".")[2]
            path = str(owner[1]) if "/" in str(owner[1]) else f"/{owner[1]}"
            for _, spans in _pairs(pods):
                for span in spans if isinstance(spans, list) else ():
                    found[kind, path] = max(found[kind, path], _length_s(span))
    return {identity: run for identity, run in found.items() if run > 0}


def _pairs(given: Any) -> list[tuple[Any, Any]]:
    if isinstance(given, dict):
        return list(given.items())
    if isinstance(given, list):
        return [(p[0], p[1]) for p in given if isinstance(p, list) and len(p) == 2]
    return []


def _length_s(span: Any) -> float:
    """Return how long a pod ran: `{"Finished": [begin, end]}`; 0 for one that did not."""
    times = span.get("Finished") if isinstance(span, dict) else None
    if isinstance(times, list) and len(times) == 2:
        begin, end = times
        if isinstance(begin, int | float) and isinstance(end, int | float):
            return max(0.0, float(end) - float(begin))
    return 0.0
