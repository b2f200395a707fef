"""A sandbox in this process: the engine alone, with no server and no database."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import msgspec

from api.notebook.loads import Load
from api.notebook.verdicts import Lines, Table, WhatIf, extra
from scheduler.analysis.explain import to_document
from scheduler.analysis.explain.answers import lines_of, overview
from scheduler.analysis.explain.changes import apply, move
from scheduler.analysis.explain.outcomes import queue_of
from scheduler.analysis.explain.past import DecidedPast
from scheduler.analysis.explain.sentences import named_object
from scheduler.analysis.explain.would import lines_of as would_lines
from scheduler.analysis.explain.would import overview_run, would
from scheduler.analysis.forecast.submission import read_submission
from scheduler.analysis.lines import RunLines
from scheduler.analysis.measures.subjects import kind_of_subjects
from scheduler.analysis.pairs import compare_pair
from scheduler.assembly import Assembled, assemble
from scheduler.cli.files import read_paths
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.input.manifests.chosen_run_times import chosen
from scheduler.model import durations
from scheduler.model.decisions import Decision
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from scheduler.model.problems import Form
from scheduler.model.texts.plain_text import write, write_all

#: How far a what-if looks unless it is told: as on the page.
HORIZON = "10m"
#: One change, as REST takes it; `LocalSandbox.what_if` lists them.
Change = Mapping[str, Any]
Manifest = Mapping[str, Any]


def open_files(
    *paths: str | Path,
    policy: Mapping[str, Any] | None = None,
    release: Mapping[str, str] | None = None,
    seed: int | None = None,
    stack: str | None = None,
    load: Load | Sequence[Load] = (),
) -> LocalSandbox:
    """Return a sandbox of files and folders, at its begin.

    `policy` is a merge patch of the policy's spec; `load` is what arrives beside the
    files, as `week` and `fit` make it. Raises SchedulerError with every
    file, line and field that is wrong.
    """
    patch = dict(policy or {})
    patch |= {"release": dict(release)} if release else {}
    patch |= {"stack": stack} if stack else {}
    loads = [load] if isinstance(load, dict) else load
    texts = [(f"load-{n}.yaml", write(one)) for n, one in enumerate(loads)]
    sources = [*read_paths(paths), *texts]
    return LocalSandbox(assemble(sources, seed=seed, policy=patch or None))


class LocalSandbox:
    """A world, what was decided in it, and what changes of it would do."""

    def __init__(self, made: Assembled) -> None:
        self.findings = Table(
            {"level": one.level, "place": str(one.place), "problem": one.problem}
            for one in made.loaded.findings
        )
        self._begin(made.world)

    def _begin(self, world: World) -> None:
        self.world = world
        self._decisions: list[Decision] = []
        tick_ms = world.policy.spec.simulation.tick_ms
        self._lines = RunLines(world, world.context.now_ms + tick_ms)

    @property
    def tick(self) -> int:
        """Return how many ticks were made."""
        return self.world.tick

    @property
    def seconds(self) -> float:
        """Return the virtual time."""
        return self.world.context.now_ms / 1000

    def step(self, ticks: int = 1, *, until: str = "", progress: bool = False) -> Self:
        """Make ticks, or tick to a virtual time such as "10m"; return the sandbox.

        `progress` shows a bar (tqdm). Raises SchedulerError for an invalid time.
        """
        tick_ms = self.world.policy.spec.simulation.tick_ms
        if until:
            left = durations.span_ms(until) - self.world.context.now_ms
            ticks = max(0, -(-left // tick_ms))
        for _ in _shown(range(ticks), progress):
            run_tick(self.world)
            self._decisions += self.world.take().decisions
            self._lines.look(self.world)
        return self

    def fork(self) -> LocalSandbox:
        """Return a sandbox that goes on from here by itself; its history begins here."""
        other = LocalSandbox.__new__(LocalSandbox)
        other.findings = self.findings
        other._begin(self.world.copy())
        return other

    def workloads(self) -> Table:
        """Return a row per Workload; without Kueue, per pod."""
        kind = kind_of_subjects(self.world)
        objects = sorted(self.world.objects.items())
        known = self.world.kueue.cluster.workloads if self.world.kueue else {}
        return Table(
            _workload(self.world, obj, known.get(key))
            for key, obj in objects
            if key.kind == kind
        )

    def events(self) -> Table:
        """Return what was decided since it was opened, oldest first."""
        return Table(
            {
                "seconds": one.at_ms / 1000,
                "type": type(one).__name__,
                "subject": str(one.subject),
                "by": str(one.by or ""),
                "reason": one.reason,
                "message": one.message,
            }
            for one in self._decisions
        )

    def shares(self) -> Lines:
        """Return the weighted share of each queue since it was opened."""
        return self._drawn("share", "Weighted share")

    def used(self, resource: str) -> Lines:
        """Return how much of a resource each queue used since it was opened."""
        return self._drawn("used", f"Use of {resource}", resource)

    def _drawn(self, of: str, title: str, resource: str = "") -> Lines:
        found: dict[str, list[tuple[float, float | None]]] = {}
        for name in sorted(self._lines.names):
            if name.of != of or name.resource != resource or not name.queue:
                continue
            line = self._lines.line(name)
            label = f"{name.queue} ({name.flavor})" if name.flavor else name.queue
            found[label] = [
                (at / 1000, value)
                for at, value in zip(line.at_ms, line.values, strict=True)
            ]
        return Lines(title, found)

    def why(self, name: str = "") -> Why:
        """Return why anything is as it is; without a name what waits, and for what.

        `name` is that of a Workload, job, pod, gang, application, queue, cohort or node,
        with its namespace or kind before it, if need be. Raises SchedulerError for what
        does not exist.
        """
        past = DecidedPast(self._decisions)
        made = overview_run if name else overview
        return Why(to_document(made(self.world, name, past)))

    def would(
        self,
        *manifests: Manifest,
        horizon: str = "24h",
        run_times: Sequence[str] = (),
    ) -> Would:
        """Return whether work would start if it were submitted now, when, at whose cost.

        `manifests` are those of one job, Workload or pod, with what belongs to it.
        `run_times` say how long work takes that does not say it, each as `5m` or
        `name=train-*:exp(10m)`; the first that matches counts.
        Nothing is submitted. Raises SchedulerError for what cannot be submitted.
        """
        files = [("manifest", write_all(manifests))]
        objects = read_submission(self.world, files, run_times=chosen(run_times))
        span = durations.span_ms(horizon)
        return Would(to_document(would(self.world, objects, horizon_ms=span)))

    def _find(self, name: str) -> Key:
        if (key := named_object(self.world, name)) is not None:
            return key
        raise SchedulerError(Form.NOT_IN_WORLD.said(key=f"Workload {name}"))

    def what_if(
        self,
        *changes: Change,
        policy: Mapping[str, Any] | None = None,
        horizon: str = HORIZON,
        seeds: Sequence[int] = (),
    ) -> WhatIf:
        """Return what changes made now would do up to a horizon, per seed.

        `policy` is a merge patch of the policy's spec. A change has one key, as REST
        takes it, where KEY is "kind", "namespace" ("" for none) and "name":

            {"patch": {KEY, "body": {"spec": {...}}}}   a merge patch of an object
            {"apply": OBJECT}     new, or in place of the one there is
            {"yaml": TEXT}        whole objects as a text
            {"delete": {KEY}}
            {"policy": {"spec": {...}}}                 a merge patch of the policy
            {"release": {"kueue": "0.16.4"}}            decides instead, from here on
            {"move": {KEY, "to": {KEY}}}                of a Workload to a LocalQueue
            {"pin": {"namespace": "default", "name": "p", "node": "n0"}}    "": unpin
            {"node": {"name": "n0", "change": "drain"}}
                add (with "like", or "labels" and "allocatable"), cordon, uncordon,
                drain, fail, recover
            {"cluster": {"name": "east", "change": "lose"}}    or recover

        What is kept goes on from here, also when the sandbox has gone on meanwhile.
        Raises SchedulerError for a change that cannot be made, once the verdict is
        asked for. Cost: a copy of the world.
        """
        given = [*changes, *([{"policy": {"spec": policy}}] if policy else [])]
        begin, decided = self.world.copy(), len(self._decisions)
        lines = copy.deepcopy(self._lines)

        def verdict() -> Mapping[str, Any]:
            operation = operation_of(begin, given)
            found = compare_pair(
                begin,
                lambda side: _perform(side, operation),
                horizon_ms=durations.span_ms(horizon),
                seeds=seeds,
            )
            plain: Mapping[str, Any] = msgspec.to_builtins(found)
            return plain

        def keep() -> None:
            world = begin.copy()
            _perform(world, operation_of(begin, given))
            self.world, self._lines = world, copy.deepcopy(lines)
            del self._decisions[decided:]

        return WhatIf(verdict, keep)

    def change(self, *changes: Change) -> Self:
        """Make changes now, all or none; return the sandbox. Raises SchedulerError."""
        changed = self.world.copy()
        _perform(changed, operation_of(changed, changes))
        self.world = changed
        return self

    def move(self, name: str, queue: str) -> Self:
        """Move a Workload, or that of a job, to a LocalQueue; return the sandbox.

        What has quota is evicted first, as a drag on the page does. Raises SchedulerError.
        """
        key, moved = self._find(name), self.world.copy()
        apply(moved, move(moved, key, Key("LocalQueue", key.namespace, queue)))
        self.world = moved
        return self

    def _repr_html_(self) -> str:
        html = self.workloads()._repr_html_()
        return f"<p>tick {self.tick}, {self.seconds:g} s</p>{html}"


class Why:
    """Answers, or what waits; `document` is as REST answers it (`waiting_read`)."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document

    @property
    def sentences(self) -> list[str]:
        """Return the answer as sentences."""
        if not self.document["answers"]:
            return list(lines_of(self.document))
        return [text for one in self.document["answers"] for text in one["sentences"]]

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        return "\n".join(lines_of(self.document))

    def _repr_html_(self) -> str:
        rows = Table({"why": one} for one in self.sentences)
        return rows._repr_html_()


class Would(Why):
    """What would come of work that is submitted; `document` is as REST answers it."""

    @property
    def sentences(self) -> list[str]:
        """Return the answer as sentences."""
        return list(self.document["sentences"])

    def __repr__(self) -> str:
        return "\n".join(would_lines(self.document))


def _shown(ticks: Iterable[int], progress: bool) -> Iterable[int]:
    if not progress:
        return ticks
    shown: Iterable[int] = extra("tqdm.auto").tqdm(ticks, unit="tick")
    return shown


@contextmanager
def _settings_of_ours() -> Iterator[None]:
    """Name our settings to Django, whatever project the user's environment names."""
    name = "DJANGO_SETTINGS_MODULE"
    before = os.environ.get(name)
    os.environ[name] = "sandbox.settings"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def operation_of(world: World, changes: Sequence[Change]) -> Any:
    """Return what makes the changes, as REST reads them; no database is asked.

    Raises SchedulerError that names each fault with its place: `changes[0].patch.name`.
    """
    import django
    from django.apps import apps

    if not apps.ready:
        with _settings_of_ours():
            django.setup()
    from rest_framework.exceptions import ValidationError

    from api.errors import causes_of
    from api.serializers.actions import WhatIfBeginSerializer
    from api.views.base import checked
    from sandbox.base.errors import SandboxError
    from sandbox.whatifs import changes as whatifs

    try:
        body = checked(WhatIfBeginSerializer, {"changes": list(changes)})
        return whatifs.operation_of(world, body["changes"])
    except (ValidationError, SandboxError) as error:
        lines = [
            ": ".join(
                filter(
                    None, (one.field, one.problem.text.removeprefix(f"{one.field}: "))
                )
            )
            for one in causes_of(error)
        ]
        raise SchedulerError("\n".join(lines) or str(error)) from error


def _perform(world: World, operation: Any) -> None:
    from sandbox.world import operations

    operations.perform(world, operation)


def _workload(world: World, obj: Object, work: WorkloadInfo | None) -> dict[str, Any]:
    row: dict[str, Any] = {"namespace": obj.key.namespace, "name": obj.key.name}
    if work is None:
        spec, status = obj.spec, obj.status
        return row | {
            "phase": status.get("phase", ""),
            "node": spec.get("nodeName", ""),
        }
    owners = obj.metadata.get("ownerReferences") or ()
    queue = None if world.kueue is None else queue_of(world.kueue, obj.key)
    return row | {
        "job": next((str(one["name"]) for one in owners), ""),
        "queue": queue.name if queue else "",
        "state": _state(work),
        "priority": work.priority,
        "createdMs": world.context.ms(work.created_us),
        "admittedMs": _since(world, work, "Admitted"),
        "finishedMs": _since(world, work, "Finished"),
        "evictions": sum(work.evictions.values()),
    }


def _state(work: WorkloadInfo) -> str:
    for condition in ("Finished", "Admitted", "QuotaReserved"):
        if work.has_condition(condition):
            return condition
    return "Pending"


def _since(world: World, work: WorkloadInfo, condition: str) -> int | None:
    found = work.conditions.get(condition)
    if found is None or not found.status:
        return None
    return world.context.ms(found.since_us)
