"""Which releases decide in a new world: given, seen in a dump, or the newest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.model.errors import SourceLocation
from scheduler.model.releases.release import (
    NEWEST,
    TITLES,
    UNRELEASED,
    Scheduler,
    canonical,
    known,
    newest_with,
    older,
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
#: What Kueue's metrics say of the manager.
_BUILD_INFO = re.compile(
    r'^kueue_build_info\{[^}\n]*git_version="v?([0-9]+\.[0-9]+\.[0-9]+(?:-devel)?)',
    re.MULTILINE,
)


class Seen(NamedTuple):
    """A release that is named, as it is spelled there, and where."""

    scheduler: Scheduler
    text: str
    place: SourceLocation


def take_seen_releases(loaded: Loaded, spec: dict[str, Any]) -> dict[str, Any]:
    """Return a policy's spec with the releases that objects and metrics name; says so.

    What the spec names counts more. The newest of several is taken. Cost: O(objects).
    """
    given = dict(spec.get("release") or {})
    for scheduler, seen in _newest([*_in_objects(loaded), *loaded.named_releases]):
        if scheduler in given:
            continue
        version = canonical(scheduler, seen.text)
        title, newest = TITLES[scheduler], NEWEST[scheduler]
        if version is None:
            said = ReadAs.NO_RELEASE.said(
                title=title, release=seen.text, known=known(scheduler), name=newest
            )
        else:
            given[scheduler] = version
            said = ReadAs.RELEASE.said(title=title, release=version)
        loaded.warn(seen.place, said)
    return {**spec, "release": given} if given else spec


def _in_objects(loaded: Loaded) -> Iterator[Seen]:
    for obj in loaded.objects:
        for scheduler, text, field in releases_in(obj.manifest):
            yield Seen(scheduler, text, loaded.places[obj.key].place(field))


def release_in_metrics(name: str, text: str) -> Seen | None:
    """Return the release that `kueue_build_info` of a file of metrics names, or None."""
    found = _BUILD_INFO.search(text)
    if found is None:
        return None
    line = text.count("\n", 0, found.start()) + 1
    place = SourceLocation(file=name, line=line, field="kueue_build_info")
    return Seen("kueue", found[1], place)


def releases_named(
    items: Iterable[Mapping[str, Any]], metrics: Iterable[str] = ()
) -> dict[str, str]:
    """Return the newest known releases that these objects and metrics name."""
    found: dict[str, str] = {}
    said = [(who, text) for item in items for who, text, _ in releases_in(item)]
    said += [
        (one[0], one[1]) for one in map(partial(release_in_metrics, ""), metrics) if one
    ]
    for scheduler, text in said:
        version = canonical(scheduler, text)
        best = found.get(scheduler)
        if version and (best is None or older(best, version)):
            found[scheduler] = version
    return found


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
            said = ReadAs.GATES.said(
                title=TITLES["kueue"], name=NEWEST["kueue"], release=found or UNRELEASED
            )
            loaded.warn(_place_of_gates(files), said)
    release = {name: at for name, at in {**NEWEST, **given}.items() if at}
    return {**spec, "release": release}


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
    return tuple(int(part) for part in text.partition("-")[0].split("."))


def release_of_image(image: str) -> tuple[Scheduler, str] | None:
    """Return whose image it is and its release, by name and tag; None for others."""
    name, _, tag = image.partition("@")[0].rpartition(":")
    scheduler = _IMAGES.get(name.rpartition("/")[2])
    version = _TAG.fullmatch(tag)
    if scheduler is None or version is None:
        return None
    return scheduler, version[1]


def releases_in(manifest: Mapping[str, Any]) -> Iterator[tuple[Scheduler, str, str]]:
    """Yield the releases that a controller's object names, and the field that does."""
    if manifest.get("kind") not in _KINDS:
        return
    labels = manifest["metadata"].get("labels") or {}
    labelled = _NAMES.get(str(labels.get("app.kubernetes.io/name")))
    said = _TAG.fullmatch(str(labels.get(_VERSION, "")))
    if labelled is not None and said is not None:
        yield labelled, said[1], f"metadata.labels.{_VERSION}"
    path = "spec" if manifest["kind"] == "Pod" else "spec.template.spec"
    pod: Any = manifest
    for name in path.split("."):
        pod = pod.get(name) if isinstance(pod, dict) else None
    containers = pod.get("containers") if isinstance(pod, dict) else None
    for number, container in enumerate(
        containers if isinstance(containers, list) else ()
    ):
        if not isinstance(container, dict):
            continue
        found = release_of_image(str(container.get("image") or ""))
        if found is not None:
            yield *found, f"{path}.containers[{number}].image"
