"""Run times that somebody chooses for what comes in: by rules, from its like, from itself.

An annotation of the object counts first, then the first rule that it matches, then what
its like took elsewhere, then what its manifest says. `quotalab.dev/runtime-source` says
of each job which it was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from scheduler.input.manifests.dumps.run_times import ended_seconds, family_of, span_of
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.manifests.run_times import (
    WHERE,
    pods_of,
    refused_run_times,
    take_written_run_times,
    without_time,
)
from scheduler.model.annotations import RUNTIME, RUNTIME_SOURCE
from scheduler.model.durations import read_span
from scheduler.model.errors import QuantityError, SchedulerError, SourceLocation
from scheduler.model.jobs import QUEUE
from scheduler.model.objects import Object
from scheduler.model.podset_template import read_pod
from scheduler.model.policy import RunTimesFrom
from scheduler.words.findings import RunTimes

_TERMS = ("kind", "namespace", "name", "queue", "image", "label")


class RunTimeRule(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """How long work takes that matches all terms; a term may hold `*`, "" is any.

    `queue` is a LocalQueue, by its name or namespace/name; `labels` are equal.
    """

    takes: str
    kind: str = ""
    namespace: str = ""
    name: str = ""
    queue: str = ""
    image: str = ""
    labels: dict[str, str] = {}

    def matches(self, obj: Object) -> bool:
        """Return whether the rule is about the object."""
        kind, namespace, name = obj.key
        queue = queue_of(obj)
        return (
            all(
                fnmatchcase(value, term)
                for term, value in (
                    (self.kind, kind),
                    (self.namespace, namespace),
                    (self.name, name),
                )
                if term
            )
            and (not self.queue or self._is_queue(namespace, queue))
            and (not self.image or self._has_image(obj))
            and self.labels.items() <= obj.labels.items()
        )

    def _is_queue(self, namespace: str, queue: str) -> bool:
        given = f"{namespace}/{queue}" if "/" in self.queue else queue
        return bool(queue) and fnmatchcase(given, self.queue)

    def _has_image(self, obj: Object) -> bool:
        return any(fnmatchcase(image, self.image) for image in images_of(obj))

    @property
    def has_terms(self) -> bool:
        """Return whether the rule is for some work alone."""
        return self.said() != self.takes

    def said(self) -> str:
        """Return the rule in command line syntax."""
        terms = [
            f"{term}={value}"
            for term in _TERMS[:-1]
            if (value := str(getattr(self, term)))
        ]
        terms += [f"label={name}={value}" for name, value in self.labels.items()]
        return f"{','.join(terms)}:{self.takes}" if terms else self.takes


class RunTimeChoice(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """What an import does about run times that nobody gave."""

    rules: Sequence[RunTimeRule] = ()
    like: Sequence[EndedWork] = ()
    like_name: str = ""  # of the file that `like` is from
    reads: RunTimesFrom | None = None  # of manifests; None is as the policy says
    strict: bool = False  # nothing is assumed


NO_CHOICE = RunTimeChoice()


def read_rule(text: str) -> RunTimeRule:
    """Return the rule of a text: `5m`, `queue=research,name=train-*:exp(10m)`.

    Raises SchedulerError.
    """
    terms, colon, takes = text.rpartition(":")
    found: dict[str, Any] = {"takes": takes.strip() if colon else text}
    labels: dict[str, str] = {}
    for term in terms.split(",") if colon else ():
        name, equals, value = term.strip().partition("=")
        if name not in _TERMS or not (equals and value):
            raise SchedulerError(
                f"--run-time {text}: expected terms such as queue=research or "
                f"name=train-*, of {', '.join(_TERMS)}, got {term!r}"
            )
        if name == "label":
            label, equals, value = value.partition("=")
            if not equals:
                raise SchedulerError(
                    f"--run-time {text}: expected label=NAME=VALUE, got {term!r}"
                )
            labels[label] = value
        else:
            found[name] = value
    rule = RunTimeRule(**found, labels=labels)
    try:
        read_span(rule.takes)
    except QuantityError as error:
        raise SchedulerError(f"--run-time {text}: {error}") from error
    return rule


def chosen(texts: Iterable[str]) -> RunTimeChoice:
    """Return the choice that such texts make. Raises SchedulerError."""
    return RunTimeChoice(rules=[read_rule(text) for text in texts])


def take_chosen_run_times(loaded: Loaded, choice: RunTimeChoice) -> None:
    """Annotate work without a run time as was chosen; findings say of how many.

    Cost: O(objects x rules + ended work).
    """
    _take_rules(loaded, choice.rules)
    if choice.like:
        take_learned_run_times(loaded, choice.like, choice.like_name)
    if choice.reads is not None:
        take_written_run_times(loaded.objects, choice.reads)
    if choice.strict:
        loaded.findings += refused_run_times(loaded)


def _take_rules(loaded: Loaded, rules: Sequence[RunTimeRule]) -> None:
    if not rules:
        return
    taken: dict[str, list[Object]] = {}
    for obj in without_time(loaded.objects):
        rule = next((rule for rule in rules if rule.matches(obj)), None)
        if rule is not None:
            ours = {RUNTIME: rule.takes, RUNTIME_SOURCE: f"chosen: {rule.said()}"}
            obj.metadata["annotations"] = {**obj.annotations, **ours}
            taken.setdefault(rule.said(), []).append(obj)
    for text, objects in taken.items():
        said = RunTimes.CHOSEN.said(n=len(objects), rule=text)
        place = loaded.places[objects[0].key].place(WHERE)
        loaded.findings.append(Finding("warning", place, said))
    for number, rule in enumerate(rules):
        if rule.said() not in taken and rule.has_terms:
            said = RunTimes.CHOSEN_NONE.said(rule=rule.said())
            field = f"rules[{number}]"
            loaded.warn(SourceLocation(file="runTimes", line=1, field=field), said)


def untimed(objects: Iterable[Object], most: int) -> list[Object]:
    """Return the first `most` objects whose run time is assumed, in their order."""
    return list(islice(without_time(objects), most))


# ------------------------------------------------------------------------
# Run times of work that ended elsewhere, for work that has none: a dump, a recording.


Group = tuple[str, ...]


class EndedWork(NamedTuple):
    """One object whose work ended, and for how long it ran."""

    object: Object
    seconds: float


def ended_work(objects: Iterable[Object]) -> list[EndedWork]:
    """Return the Workloads and Jobs of a dump that ended, a Job and its Workload once.

    Cost: O(objects).
    """
    timed = ((obj, ended_seconds(obj)) for obj in objects)
    found = [EndedWork(obj, seconds) for obj, seconds in timed if seconds is not None]
    jobs = {(one.object.key.namespace, one.object.uid) for one in found}
    return [one for one in found if jobs.isdisjoint(_owners(one.object))]


def _owners(obj: Object) -> Iterator[tuple[str, str]]:
    for one in obj.metadata.get("ownerReferences") or ():
        yield obj.key.namespace, str(one.get("uid") or "")


def take_learned_run_times(
    loaded: Loaded, ended: Iterable[EndedWork], name: str
) -> None:
    """Annotate work without a run time with what its like took in the file `name`.

    Few times give their median, five or more their quantiles, from which the seed
    draws. A finding says of how many objects. Cost: O(objects + ended work).
    """
    history: dict[Group, list[float]] = defaultdict(list)
    for one in ended:
        for group, _ in _groups(one.object):
            history[group].append(one.seconds)
    taken: dict[str, list[Object]] = defaultdict(list)
    for obj in without_time(loaded.objects):
        if (found := _nearest(obj, history)) is not None:
            times, words = found
            source = f"{len(times)} of {words} in {name}"
            ours = {RUNTIME: span_of(times), RUNTIME_SOURCE: source}
            obj.metadata["annotations"] = {**obj.annotations, **ours}
            taken[obj.key.kind].append(obj)
    for kind, objects in sorted(taken.items()):
        said = RunTimes.LEARNED.said(n=len(objects), kind=kind, name=name)
        place = loaded.places[objects[0].key].place(WHERE)
        loaded.findings.append(Finding("warning", place, said))


def _nearest(
    obj: Object, history: Mapping[Group, list[float]]
) -> tuple[list[float], str] | None:
    for group, words in _groups(obj):
        if times := history.get(group):
            return times, words
    return None


def _groups(obj: Object) -> Iterator[tuple[Group, str]]:
    """Yield what the object has in common with others, the nearest first."""
    kind, namespace, name = obj.key
    family, size = family_of(obj, name), size_of(obj)
    own = f"family {namespace}/{family}"
    yield ("family", namespace, family, size), f"{own} of {size}"
    yield ("family", namespace, family), own
    yield ("family", family), f"family {family}"
    labels = sorted(f"{k}={v}" for k, v in obj.labels.items() if not _is_ours(k))
    if labels:
        yield ("labels", *labels), f"labels {', '.join(labels)}"
    images = sorted({image for image in images_of(obj) if image})
    if images:
        yield ("image", *images, size), f"image {', '.join(images)} of {size}"
        yield ("image", *images), f"image {', '.join(images)}"
    if queue := queue_of(obj):
        yield ("queue", namespace, queue, size), f"queue {namespace}/{queue} of {size}"
        yield ("queue", namespace, queue), f"queue {namespace}/{queue}"
        yield ("queue", queue), f"queue {queue}"
    yield ("namespace", namespace), f"namespace {namespace}"
    yield ("kind", kind), f"kind {kind}"


def _is_ours(label: str) -> bool:
    """Return whether a controller writes the label: it says nothing of the work."""
    return "kueue.x-k8s.io/" in label or label in _WRITTEN


#: Labels that a Job's controller writes.
_WRITTEN = frozenset(
    {
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
        "controller-uid",
        "job-name",
    }
)


def queue_of(obj: Object) -> str:
    """Return the LocalQueue of a Workload or a job, "" for none."""
    return str(obj.spec.get("queueName") or obj.labels.get(QUEUE) or "")


def size_of(obj: Object) -> str:
    """Return pods times what one asks for, to the next power of two, for people."""
    most: dict[str, int] = {}
    pods = 0
    for pod, count in _counted(obj):
        pods += count
        for name, amount in _requests(pod).items():
            most[name] = max(most.get(name, 0), amount)
    devices = [name for name in sorted(most) if "/" in name]
    name = devices[0] if devices else "cpu"
    each = -(-most.get(name, 0) // (1000 if name == "cpu" else 1))
    return f"{_class(max(pods, 1))} x {_class(each)} {name}"


def _counted(obj: Object) -> Iterator[tuple[Mapping[str, Any], int]]:
    sets = obj.spec.get("podSets")
    if isinstance(sets, list):
        for one in sets:
            spec = (one.get("template") or {}).get("spec") or {}
            yield spec, int(one.get("count") or 1)
        return
    count = obj.spec.get("parallelism")
    count = count if isinstance(count, int) else 1
    for pod in pods_of(obj.manifest):
        yield pod, count


def _requests(pod: Mapping[str, Any]) -> Mapping[str, int]:
    try:
        return read_pod(pod).requests
    except (QuantityError, AttributeError, TypeError):
        return {}  # what is wrong with it is a finding of its own


def _class(number: int) -> int:
    return 1 << max(number - 1, 0).bit_length() if number else 0


def images_of(obj: Object) -> Iterator[str]:
    """Yield the images of all containers of its pods."""
    for pod in pods_of(obj.manifest):
        for container in pod.get("containers") or ():
            if isinstance(container, dict):
                yield str(container.get("image") or "")
