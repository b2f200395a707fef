"""Work that ended, in whatever file somebody has: a recording, a dump, a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scheduler.input.files.unpacking import Unpacking
from scheduler.input.manifests.chosen_run_times import EndedWork, ended_work
from scheduler.input.manifests.load import load
from scheduler.input.traces import formats
from scheduler.input.traces.options import NO_OPTIONS
from scheduler.input.traces.taking import is_trace, job_of
from scheduler.model.objects import Key, Object
from scheduler.recorded.followed import run_times
from scheduler.recorded.qrec.frames import MAGIC
from scheduler.recorded.qrec.reading import Followed
from scheduler.recorded.twin.files import read_files


def ended_in_files(files: Sequence[tuple[str, bytes]]) -> list[EndedWork]:
    """Return the work that ended in a recording, or in dumps and traces.

    Raises SchedulerError for a recording or a trace that is broken. Cost: O(files).
    """
    if any(data.startswith(MAGIC) for _, data in files):
        return ended_in(read_files(files))
    unpacking = Unpacking()
    texts = [text for name, data in files for text in unpacking.texts(name, data)]
    loaded = load([text for text in texts if not is_trace(*text)])
    found = ended_work(loaded.objects)
    for name, text in texts:
        if is_trace(name, text):
            found += _ended_in_trace(name, text)
    return found


def _ended_in_trace(name: str, text: str) -> Iterator[EndedWork]:
    """Yield the jobs of a trace, each of its queue, size and user."""
    for job in formats.read(text, name, NO_OPTIONS).jobs:
        if job.run_s is not None:
            key = Key("Job", "default", job.name)
            manifest = job_of(job, namespace=key.namespace, queue=job.queue)
            manifest["metadata"]["name"] = job.name
            yield EndedWork(Object(key=key, manifest=manifest), job.run_s)


def ended_in(followed: Followed) -> list[EndedWork]:
    """Return the jobs of a recording whose work ended, as they were last."""
    latest = {}
    for manifest in (*followed.standing, *(seen.object for seen in followed.events)):
        metadata = manifest["metadata"]
        place = manifest["kind"], metadata.get("namespace", ""), metadata["name"]
        latest[place] = manifest
    found = []
    for place, seconds in run_times(followed.events).items():
        kind, namespace, name = place
        bare = {"kind": kind, "metadata": {"name": name, "namespace": namespace}}
        obj = Object(key=Key(*place), manifest=latest.get(place, bare))
        found.append(EndedWork(obj, seconds))
    return found
