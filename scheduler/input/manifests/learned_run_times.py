"""Run times of work that ended elsewhere, for work that has none: a dump, a recording.

The nearest of these that has any times counts: the same family of names in the same
namespace, the family anywhere, the image, the queue, the namespace, the kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from scheduler.input.manifests.dumps.run_times import ended_seconds, family_of, span_of
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.manifests.run_times import WHERE, without_time
from scheduler.input.manifests.written_run_times import pods_of
from scheduler.model.annotations import RUNTIME, RUNTIME_SOURCE
from scheduler.model.objects import Object
from scheduler.words.findings import RunTimes

_QUEUE = "kueue.x-k8s.io/queue-name"
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
    family = family_of(obj, name)
    yield ("family", namespace, family), f"family {namespace}/{family}"
    yield ("family", family), f"family {family}"
    images = sorted({image for image in _images(obj) if image})
    if images:
        yield ("image", *images), f"image {', '.join(images)}"
    queue = str(obj.spec.get("queueName") or obj.labels.get(_QUEUE) or "")
    if queue:
        yield ("queue", namespace, queue), f"queue {namespace}/{queue}"
    yield ("namespace", namespace), f"namespace {namespace}"
    yield ("kind", kind), f"kind {kind}"


def _images(obj: Object) -> Iterator[str]:
    for pod in pods_of(obj.manifest):
        for container in pod.get("containers") or ():
            if isinstance(container, dict):
                yield str(container.get("image") or "")
