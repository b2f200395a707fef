"""Which releases decide in a new world: given, seen in a dump, or the newest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.model.errors import SourceLocation
from scheduler.model.objects import Object
from scheduler.model.releases.gates import newest_with
from scheduler.model.releases.versions import (
    NEWEST,
    TITLES,
    UNRELEASED,
    Scheduler,
    canonical,
    known,
)
from scheduler.words.read_as import ReadAs

_VERSION = "app.kubernetes.io/version"
_KINDS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Pod")
#: What the last part of an image's name is -> whose it is. YuniKorn's tags begin with it.
_IMAGES: dict[str, Scheduler] = {
    "kueue": "kueue",
    "kube-scheduler": "kubernetes",
    "yunikorn": "yunikorn",
}
#: What the label `app.kubernetes.io/name` is -> whose it is.
_NAMES: dict[str, Scheduler] = {"kueue": "kueue", "yunikorn": "yunikorn"}
_TAG = re.compile(r"(?:scheduler-)?v?([0-9]+\.[0-9]+\.[0-9]+)(?:[-+].*)?")


class Seen(NamedTuple):
    """A release that an object names, as it spells it."""

    scheduler: Scheduler
    text: str
    obj: Object
    field: str


def take_seen_releases(loaded: Loaded, spec: dict[str, Any]) -> dict[str, Any]:
    """Return a policy's spec with the releases that the objects name; says so.

    What the spec names counts more. The newest of several is taken. Cost: O(objects).
    """
    given = dict(spec.get("release") or {})
    for scheduler, seen in _newest(_seen(loaded.objects)):
        if scheduler in given:
            continue
        place = loaded.places[seen.obj.key].place(seen.field)
        version = canonical(scheduler, seen.text)
        title, newest = TITLES[scheduler], NEWEST[scheduler]
        if version is None:
            said = ReadAs.NO_RELEASE.said(
                title=title, release=seen.text, known=known(scheduler), name=newest
            )
        else:
            given[scheduler] = version
            said = ReadAs.RELEASE.said(title=title, release=version)
        loaded.warn(place, said)
    return {**spec, "release": given} if given else spec


def take_newest_releases(
    loaded: Loaded, spec: dict[str, Any], files: Mapping[str, str]
) -> dict[str, Any]:
    """Return a policy's spec with the newest release of each scheduler that has none.

    `files` are the texts by name, in which a finding shows its place.

    Of Kueue it is the newest that starts with the featureGates of the spec, which is
    said where it is not the newest of all; where none does, it stays without.
    """
    given = dict(spec.get("release") or {})
    if "kueue" not in given:
        gates = (spec.get("kueue") or {}).get("featureGates")
        found = newest_with(gates) if isinstance(gates, dict) else NEWEST["kueue"]
        given["kueue"] = found or ""
        if found != NEWEST["kueue"]:
            _say_gates(loaded, files, found)
    release = {name: at for name, at in {**NEWEST, **given}.items() if at}
    return {**spec, "release": release}


def _say_gates(loaded: Loaded, files: Mapping[str, str], found: str | None) -> None:
    said = ReadAs.GATES.said(
        title=TITLES["kueue"], name=NEWEST["kueue"], release=found or UNRELEASED
    )
    loaded.warn(_place_of_gates(files), said)


def _place_of_gates(files: Mapping[str, str]) -> SourceLocation:
    """Return the first line that gives featureGates; else the policy gives them."""
    for name, text in files.items():
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip().strip('"').startswith("featureGates"):
                return SourceLocation(file=name, line=number, field="featureGates")
    return SourceLocation(file="policy", line=1, field="kueue.featureGates")


def _newest(seen: Iterable[Seen]) -> Iterator[tuple[Scheduler, Seen]]:
    found: dict[Scheduler, Seen] = {}
    for one in seen:
        best = found.get(one.scheduler)
        if best is None or _order(one.text) > _order(best.text):
            found[one.scheduler] = one
    yield from found.items()


def _order(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def release_of_image(image: str) -> tuple[Scheduler, str] | None:
    """Return whose image it is and its release, by name and tag; None for others."""
    name, _, tag = image.partition("@")[0].rpartition(":")
    scheduler = _IMAGES.get(name.rpartition("/")[2])
    version = _TAG.fullmatch(tag)
    if scheduler is None or version is None:
        return None
    return scheduler, version[1]


def _seen(objects: Iterable[Object]) -> Iterator[Seen]:
    for obj in objects:
        if obj.key.kind not in _KINDS:
            continue
        labelled = _NAMES.get(str(obj.labels.get("app.kubernetes.io/name")))
        said = _TAG.fullmatch(str(obj.labels.get(_VERSION, "")))
        if labelled is not None and said is not None:
            yield Seen(labelled, said[1], obj, f"metadata.labels.{_VERSION}")
        path, pod = "spec.template.spec", (obj.spec.get("template") or {}).get("spec")
        if obj.key.kind == "Pod":
            path, pod = "spec", obj.spec
        for number, container in enumerate((pod or {}).get("containers") or ()):
            found = release_of_image(str(container.get("image") or ""))
            if found is not None:
                at = f"{path}.containers[{number}].image"
                yield Seen(*found, obj, at)
