"""Run times of work that ended elsewhere, for work that has none: a dump, a recording.

The nearest of these that has any times counts: the same family of names in the same
namespace (the owner's, where there is one) of the same size, the family, the family
anywhere, the labels, the image of the same size, the image, the queue and the size, the
queue, the namespace, the kind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from scheduler.input.manifests.dumps.run_times import ended_seconds, family_of, span_of
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.manifests.run_times import WHERE, without_time
from scheduler.input.manifests.written_run_times import pods_of
from scheduler.model.annotations import RUNTIME, RUNTIME_SOURCE
from scheduler.model.errors import QuantityError
from scheduler.model.objects import Object
from scheduler.model.podset_template import read_pod
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
    return str(obj.spec.get("queueName") or obj.labels.get(_QUEUE) or "")


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
