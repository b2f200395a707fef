"""`--run-times-from FILE`: what ended in a recording or a dump, for work like it."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import get_args

from scheduler.cli.files import read_bytes, read_paths
from scheduler.input.manifests.learned_run_times import (
    EndedWork,
    ended_work,
    take_learned_run_times,
)
from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from scheduler.model.policy import RunTimesFrom
from scheduler.recorded.qrec.frames import MAGIC
from scheduler.recorded.qrec.reading import Followed
from scheduler.recorded.run_times import run_times
from scheduler.recorded.twin.files import read_files


def learning_from(path: Path) -> Callable[[Loaded], None]:
    """Return what gives loaded work the run times of its like in a file.

    Raises SchedulerError for what is neither a file nor a word of the policy, and for
    a file in which no work ended; OSError.
    """
    if not path.exists():
        words = get_args(RunTimesFrom)
        near = get_close_matches(str(path), words, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise SchedulerError(
            f"--run-times-from {path}: expected a file, or one of {', '.join(words)}{hint}"
        )
    files = list(read_bytes([path]))
    if any(data.startswith(MAGIC) for _, data in files):
        ended = ended_in(read_files(files))
    else:
        ended = ended_work(load(read_paths([path])).objects)
    if not ended:
        raise SchedulerError(
            f"{path}: expected work that ended, found none; give a recording, or what "
            "`kubectl get workloads,jobs -A -o yaml` prints"
        )
    return partial(take_learned_run_times, ended=ended, name=path.name)


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
