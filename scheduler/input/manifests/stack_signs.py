"""Which scheduler files are meant for, by what stands in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.input.manifests import kinds
from scheduler.input.manifests.loading.loaded import Loaded
from scheduler.input.manifests.simulation_gaps.unfollowed import pod_specs
from scheduler.model.errors import SourceLocation
from scheduler.model.jobs import QUEUE
from scheduler.model.objects import Object
from scheduler.model.policy import Stack
from scheduler.model.sentence import Sentence
from scheduler.words.read_as import StackSign

_YUNIKORN = "yunikorn"  # the schedulerName of its pods
_POD_GROUPS = ("scheduling.x-k8s.io", "scheduling.k8s.io")
_NAMES: dict[Stack, str] = {
    "kueue": "Kueue",
    "yunikorn": "YuniKorn",
    "kube": "kube-scheduler",
}


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that only files for one stack have, and where it stands."""

    stack: Stack
    what: str
    place: SourceLocation | None

    def said(self) -> Sentence:
        """Return the sign as people read it."""
        name = _NAMES[self.stack]
        if self.place is None:
            return StackSign.SIGN.said(name=name, what=self.what)
        place = f"{self.place.file}:{self.place.line}"
        return StackSign.PLACED.said(name=name, what=self.what, place=place)


def signs_of(loaded: Loaded) -> dict[Stack, Sign]:
    """Return the first sign of each stack that the files are for. Cost: O(objects).

    A schedulerName of a KubeSchedulerConfiguration among the files is
    kube-scheduler's. Kueue runs beside kube-scheduler, so PodGroups agree with it.
    """
    found: dict[Stack, Sign] = {}
    for sign in _signs(loaded):
        found.setdefault(sign.stack, sign)
    if "kueue" in found:
        found.pop("kube", None)
    return found


def stack_of(loaded: Loaded) -> Stack:
    """Return the stack that files are for; Kueue where several say so.

    Where nothing says so, nodes and pods that no queue concerns are kube-scheduler's.
    """
    found = signs_of(loaded)
    if len(found) == 1:
        return next(iter(found))
    return "kube" if not found and _nodes_and_pods(loaded) else "kueue"


def _nodes_and_pods(loaded: Loaded) -> bool:
    made = (any(pod_specs(obj.manifest)) for obj in loaded.objects)
    return any(obj.key.kind == "Node" for obj in loaded.objects) and any(made)


def disagreement(signs: dict[Stack, Sign]) -> Sentence | None:
    """Return the sentence that asks which stack is meant; None when signs agree."""
    if len(signs) < 2:
        return None
    first, second, *_ = signs.values()
    return StackSign.OPEN.said(
        first=first.said(), second=second.said(), stacks=" or ".join(signs)
    )


def _signs(loaded: Loaded) -> Iterator[Sign]:
    if loaded.policy.get("kueue"):
        yield Sign("kueue", "a Configuration of Kueue", None)
    if (loaded.policy.get("yunikorn") or {}).get("queues"):
        yield Sign("yunikorn", "a queues.yaml", None)
    profiles = set(_profiles(loaded))
    for obj in loaded.objects:
        document = loaded.places.get(obj.key)
        for stack, what, path in _object_signs(obj, profiles):
            yield Sign(stack, what, document.place(path) if document else None)


def _object_signs(obj: Object, profiles: set[str]) -> Iterator[tuple[Stack, str, str]]:
    group = kinds.split(obj.manifest["apiVersion"])[0]
    kind = obj.key.kind
    if group == kinds.KUEUE:
        yield "kueue", kind, "kind"
    elif obj.labels.get(QUEUE):
        yield "kueue", f"the label {QUEUE}", f"metadata.labels.{QUEUE}"
    if group in _POD_GROUPS and kind.startswith("PodGroup"):
        yield "kube", kind, "kind"
    if group == "ray.io" and (label := next(_yunikorn_labels(obj), "")):
        yield "yunikorn", f"the label {label}", f"metadata.labels.{label}"
    if _YUNIKORN in profiles:
        return
    for path in _yunikorn_pods(obj.manifest):
        yield "yunikorn", f"schedulerName: {_YUNIKORN}", f"{path}.schedulerName"


def _yunikorn_labels(obj: Object) -> Iterator[str]:
    """Yield the labels by which KubeRay leaves a cluster to YuniKorn."""
    return (name for name in obj.labels if name.startswith("yunikorn.apache.org/"))


def names_yunikorn(manifest: Mapping[str, Any]) -> bool:
    """Return whether a pod of the object names YuniKorn as its scheduler."""
    return any(True for _ in _yunikorn_pods(manifest))


def _yunikorn_pods(manifest: Mapping[str, Any]) -> Iterator[str]:
    for path, pod in pod_specs(manifest):
        if pod.get("schedulerName") == _YUNIKORN:
            yield path


def _profiles(loaded: Loaded) -> Iterator[str]:
    given = loaded.policy.get("kubeScheduler") or {}
    for document in given.get("items") or [given]:
        profiles = document.get("profiles")
        for profile in profiles if isinstance(profiles, list) else ():
            if isinstance(profile, dict):
                yield str(profile.get("schedulerName"))
