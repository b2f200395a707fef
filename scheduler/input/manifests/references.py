"""What objects say of one another: names that nothing has, trees that loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.jobs.making import BUILT_IN
from scheduler.input.manifests.jobs.pod import GROUP
from scheduler.input.manifests.loading.loaded import Finding
from scheduler.input.manifests.simulation_gaps.missing_claims import missing_claims
from scheduler.input.manifests.simulation_gaps.unfollowed import pod_specs
from scheduler.input.manifests.simulation_gaps.unsimulated import elastic_elsewhere
from scheduler.model import registry
from scheduler.model.errors import SourceLocation
from scheduler.model.jobs import QUEUE
from scheduler.model.objects import (
    Key,
    cluster_of,
    namespace_labels,
    plain,
    qualified,
    qualified_name,
)
from scheduler.model.pod import gang_of
from scheduler.model.problems import Problem
from scheduler.model.reasons import has_ended, is_true
from scheduler.model.selectors import labels_selected, read_selector
from scheduler.model.sentence import Sentence, listed
from scheduler.model.webhooks import KINDS as WEBHOOKS
from scheduler.model.webhooks import read_webhooks
from scheduler.words.findings import Gang, Missing

Manifests = Mapping[Key, Mapping[str, Any]]
Places = Mapping[Key, Document]
#: Specs of pods, and of templates of pods, each with its object and path.
Pods = Sequence[tuple[Key, Document, str, Mapping[str, Any]]]

#: Kinds that bring nodes or stand for some.
NODES = frozenset({"Node", "NodeGroup", "NodePool"})


def check_references(
    manifests: Manifests, places: Places, *, stack: str
) -> list[Finding]:
    """Return the broken references between the objects of `places`.

    `manifests` are all objects, those already there included. A name that
    nothing has is a warning, as the real systems take it and leave the queue
    inactive or the pod pending; so is a loop of cohorts, below which nothing is
    admitted. Names of Kueue's
    objects and claims of pods decide nothing in another stack, so nothing is said
    of them. Cost: O(objects).
    """
    findings: list[Finding] = []
    for key, document in places.items():
        manifest = manifests.get(key)
        if manifest is not None and stack == "kueue":
            findings += _dangling(key, manifest, document, manifests)
    if stack == "kueue":
        findings += _unlabelled(manifests, places)
    pods = [
        (key, document, path, pod)
        for key, document in places.items()
        if key in manifests
        for path, pod in pod_specs(manifests[key])
    ]
    findings += _classes(manifests, pods)
    findings += _lost_nodes(manifests, pods)
    if stack != "kueue":  # quota without nodes is a world, too
        findings += _nowhere(manifests, places)
    findings += _closed_nodes(places)
    findings += _uncounted_pods(places)
    findings += _bare_nodes(manifests, places)
    findings += _unserved(manifests, places)
    if stack == "kueue":
        findings += elastic_elsewhere(manifests, places)
    if stack != "yunikorn":
        findings += missing_claims(manifests, places)
    findings += _loops(manifests, places)
    if stack != "yunikorn":
        findings += _mixed_gangs(manifests, places, queued=stack == "kueue")
    return findings


def _dangling(
    key: Key, manifest: Mapping[str, Any], document: Document, manifests: Manifests
) -> Iterator[Finding]:
    cluster = cluster_of(key)
    for path, inside in _names(plain(key), manifest):
        target = qualified(inside, cluster)
        if target not in manifests:
            yield Finding("warning", document.place(path), _missing(target))
    if key.kind == "ClusterQueue":
        yield from _foreign_flavors(manifest, document)
        yield from _torn_labels(manifest, document, manifests, cluster)


def _unserved(manifests: Manifests, places: Places) -> Iterator[Finding]:
    """Yield the webhooks for pods whose Service is not here."""
    for key, document in places.items():
        found = manifests.get(key) if key.kind in WEBHOOKS else None
        for hook in read_webhooks(key, found) if found else ():
            if hook.service is None:
                continue
            service = qualified(hook.service, cluster_of(key))
            if service not in manifests:
                said = _missing(hook.service, Missing.WEBHOOK)
            elif hook.fails and not _is_served(service, manifests):
                said = Missing.SERVED.said(name=hook.service.path, webhook=hook.name)
            else:
                continue
            yield Finding("warning", document.place("webhooks"), said)


def _is_served(service: Key, manifests: Manifests) -> bool:
    """Return whether a pod that a Service selects is here, or what makes one."""
    labels = labels_selected(manifests[service])
    selector = read_selector({"matchLabels": labels})
    return not labels or any(
        selector.matches(labels_of_pods(manifest))
        for key, manifest in manifests.items()
        if key.namespace == service.namespace
        and cluster_of(key) == cluster_of(service)
        and key != service
    )


def labels_of_pods(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the labels of a Pod, or of the template of what makes Pods."""
    found: Any = manifest
    inside = () if manifest.get("kind") == "Pod" else ("spec", "template")
    for name in (*inside, "metadata", "labels"):  # an unknown kind has any shape
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _unlabelled(manifests: Manifests, places: Places) -> Iterator[Finding]:
    """Yield the LocalQueues whose namespace is not here and has labels to have."""
    for key, document in places.items():
        spec = manifests.get(key, {}).get("spec") if key.kind == "LocalQueue" else None
        if not spec:
            continue
        cluster, own = cluster_of(key), plain(key).namespace
        queue = qualified(
            Key("ClusterQueue", "", str(spec.get("clusterQueue"))), cluster
        )
        if (found := manifests.get(queue)) is None:
            continue
        given = (found.get("spec") or {}).get("namespaceSelector")
        selector = read_selector(given)
        space = manifests.get(qualified(Key("Namespace", "", own), cluster))
        labels = {} if space is None else space["metadata"].get("labels") or {}
        if selector.nothing or selector.matches(namespace_labels(own, labels)):
            continue
        word = Missing.NAMESPACE if space is None else Missing.NAMESPACE_LABELS
        said = word.said(name=own, queue=plain(queue).name)
        yield Finding("warning", document.place("metadata.namespace"), said)


def _classes(manifests: Manifests, pods: Pods) -> Iterator[Finding]:
    """Yield the pods whose PriorityClass does not exist."""
    for key, document, path, pod in pods:
        name = pod.get("priorityClassName")
        if not isinstance(name, str) or not name or "priority" in pod:
            continue  # a pod with a priority has been admitted with its class
        target = Key("PriorityClass", "", name)
        known = qualified(target, cluster_of(key)) in manifests
        if known or name in BUILT_IN or key.kind == "Workload":
            continue  # a Workload's podSets are those of its job
        at = document.place(f"{path}.priorityClassName")
        queued = QUEUE in (manifests[key]["metadata"].get("labels") or {})
        effect = Missing.NO_WORKLOAD if queued else Missing.NO_PRIORITY
        yield Finding("warning", at, _missing(target, effect))


def _lost_nodes(manifests: Manifests, pods: Pods) -> Iterator[Finding]:
    """Yield the pods, and templates of pods, whose node does not exist.

    Without any Node one finding for all pods; of templates another one says so then.
    """
    nodes = {key for key in manifests if key.kind == "Node"}
    lost: list[tuple[Key, Document, str]] = []
    for key, document, path, pod in pods:
        name = pod.get("nodeName")
        if not name or (key.kind == "Pod" and has_ended(document.data.get("status"))):
            continue
        if key.kind == "Workload":
            continue  # its podSets are those of its job
        target = qualified(Key("Node", "", str(name)), cluster_of(key))
        if target not in nodes:
            lost.append((target, document, f"{path}.nodeName"))
    if not nodes:
        run = [one for one in lost if one[1].kind == "Pod"]
        names = sorted({target.name for target, _, _ in run})
        if run:
            said = Missing.NODES.said(n=len(run), names=listed(names))
            yield Finding("warning", run[0][1].place(run[0][2]), said)
        return
    for target, document, path in lost:
        status = document.data.get("status") or {}
        begun = status.get("startTime") or status.get("phase") not in (None, "Pending")
        begun = begun and document.kind == "Pod"
        effect = Missing.WAITS if begun else Missing.COLLECTED
        effect = Missing.STARTED if _is_ready(document) else effect
        said = _missing(target, effect)
        yield Finding("warning", document.place(path), said)


def _nowhere(manifests: Manifests, places: Places) -> Iterator[Finding]:
    """Yield that pods have no node to go to, once for all of them."""
    if not any(key.kind in NODES for key in manifests):
        for key, document in places.items():
            for path, spec in pod_specs(manifests.get(key, {})):
                if not spec.get("nodeName"):
                    yield Finding(
                        "warning", document.place(path), Missing.NOWHERE.said()
                    )
                    return


def _uncounted_pods(places: Places) -> Iterator[Finding]:
    """Yield the Jobs whose status says no count of the pods that have succeeded."""
    for key, document in places.items():
        status = document.data.get("status") if key.kind == "Job" else None
        value = status.get("succeeded") if isinstance(status, Mapping) else None
        if value is not None and (type(value) is not int or value < 0):
            said = Missing.SUCCEEDED.said(value=repr(value))
            yield Finding("warning", document.place("status.succeeded"), said)


def _closed_nodes(places: Places) -> Iterator[Finding]:
    """Yield the nodes that say how much they have, and not how many pods."""
    for key, document in places.items():
        if key.kind == "Node":
            status = document.data.get("status") or {}
            room = status.get("allocatable") or status.get("capacity") or {}
            if room and "pods" not in room:
                at = document.place("status.allocatable")
                yield Finding(
                    "warning",
                    at,
                    Missing.NODE_PODS.said(name=key.name),
                    sort=Missing.NODES_PODS.said(),
                )


def _bare_nodes(manifests: Manifests, places: Places) -> Iterator[Finding]:
    """Yield the nodes without a label that a kubelet gives, and pods or levels name."""
    bare = [
        (label, key, document)
        for key, document in places.items()
        if key.kind == "Node"
        for label in _OF_KUBELETS
        if label not in (document.data["metadata"].get("labels") or {})
    ]
    named: set[str] = set()
    if bare:  # files of a running cluster have no such node, and are not read again
        for key, manifest in manifests.items():
            if key.kind not in NODES:
                named |= _words(manifest.get("spec"))
    for label, key, document in bare:
        if label in named:
            said = Missing.NODE_LABEL.said(name=key.name, label=label)
            sort = Missing.NODES_LABEL.said(label=label)
            yield Finding("warning", document.place("metadata"), said, sort=sort)


_OF_KUBELETS = ("kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch")


def _words(value: object) -> set[str]:
    """Return those of the labels that stand in a value, as a key or as a text."""
    packed = msgspec.msgpack.encode(value, enc_hook=str)
    if not any(label.encode() in packed for label in _OF_KUBELETS):
        return set()
    found, left = set[str](), [value]
    while left:
        one = left.pop()
        if isinstance(one, Mapping):
            left += [*one, *one.values()]
        elif isinstance(one, list):
            left += one
        elif one in _OF_KUBELETS:
            found.add(str(one))
    return found


def _mixed_gangs(
    manifests: Manifests, places: Places, *, queued: bool
) -> Iterator[Finding]:
    """Yield the pods of a group whose priority is not that of its first one.

    Of a group that is queued by Kueue only pods without a WorkloadPriorityClass.
    """
    values = {
        key: m.get("value") for key, m in manifests.items() if key.kind == _CLASS_OF
    }
    first: dict[Key, tuple[Key, int]] = {}
    for key, manifest in manifests.items():
        spec = manifest.get("spec") if key.kind == "Pod" else None
        labels = (manifest["metadata"].get("labels") or {}) if spec else {}
        kind, gang = "PodGroup", gang_of(labels)
        if queued and not gang and _CLASS not in labels:
            kind, gang = "Workload", str(labels.get(GROUP) or "")
        if not spec or not gang:
            continue
        named = qualified(
            Key(_CLASS_OF, "", str(spec.get("priorityClassName"))), cluster_of(key)
        )
        given = spec.get("priority", values.get(named, BUILT_IN.get(plain(named).name)))
        priority = given if isinstance(given, int) else 0
        group = qualified(Key(kind, key.namespace, gang), cluster_of(key))
        other, known = first.setdefault(group, (key, priority))
        if priority != known and key in places:
            words = Gang.HASHED if kind == "Workload" else Gang.MIXED
            said = words.said(
                name=key.name, group=gang, given=priority, other=other.name, known=known
            )
            at = places[key].place("spec.priorityClassName")
            yield Finding("warning", at, said, sort=Gang.SORT.said(group=gang))


def _is_ready(document: Document) -> bool:
    """Return whether the pod was ready when it was read: it does not start again."""
    return is_true(document.data.get("status"), "Ready")


def _missing(key: Key, sort: Missing | None = None) -> Sentence:
    effect = (sort or _EFFECTS.get(key.kind, Missing.NO_EFFECT)).said()
    if not key.namespace:
        return Missing.NAMED.said(kind=key.kind, name=key.name, effect=effect)
    return Missing.NAMED_IN.said(
        kind=key.kind, name=key.name, namespace=key.namespace, effect=effect
    )


def _foreign_flavors(
    manifest: Mapping[str, Any], document: Document
) -> Iterator[Finding]:
    """Yield the flavors of admission checks that the ClusterQueue does not have."""
    spec = manifest.get("spec") or {}
    own = {target.name for _, target in _flavors(spec)}
    strategy = spec.get("admissionChecksStrategy") or {}
    for index, check in enumerate(strategy.get("admissionChecks") or ()):
        for name in check.get("onFlavors") or ():
            if name not in own:
                path = (
                    f"spec.admissionChecksStrategy.admissionChecks[{index}].onFlavors"
                )
                said = Missing.FLAVOR.said(name=str(name))
                yield Finding("warning", document.place(path), said)


def _torn_labels(
    manifest: Mapping[str, Any], document: Document, manifests: Manifests, cluster: str
) -> Iterator[Finding]:
    """Yield a node label to which flavors of two resource groups give two values.

    A pod that uses both has one of the two in its nodeSelector, and Kueue takes either.
    Source: docs/semantics/kueue.md#flavor-eligibility
    """
    before: dict[str, tuple[str, str]] = {}
    spec = manifest.get("spec") or {}
    for index, group in enumerate(spec.get("resourceGroups") or ()):
        own: dict[str, tuple[str, str]] = {}
        for _, inside in _flavors({"resourceGroups": [group]}):
            key = qualified(inside, cluster)
            labels = (manifests.get(key, {}).get("spec") or {}).get("nodeLabels") or {}
            for label, value in labels.items():
                own[label] = (inside.name, str(value))
                name, other = before.get(label, ("", str(value)))
                if other != str(value):
                    said = Missing.ONE_LABEL.said(
                        label=label, flavor=inside.name, other=name
                    )
                    at = document.place(f"spec.resourceGroups[{index}].flavors")
                    yield Finding("warning", at, said)
                    return
        before |= own


_EFFECTS = {
    "ResourceFlavor": Missing.INACTIVE,
    "ClusterQueue": Missing.QUEUE_WAITS,
    "LocalQueue": Missing.WAITS,
    "Topology": Missing.INACTIVE,
    "AdmissionCheck": Missing.INACTIVE,
    "WorkloadPriorityClass": Missing.NO_WORKLOAD,
    "ClusterTrainingRuntime": Missing.NO_TRAIN_JOB,
    "TrainingRuntime": Missing.NO_TRAIN_JOB,
}


def _names(key: Key, manifest: Mapping[str, Any]) -> Iterator[tuple[str, Key]]:
    """Yield (field, key) of every object this one names."""
    spec = manifest.get("spec") or {}
    match key.kind:
        case "ClusterQueue" | "Cohort":
            yield from _flavors(spec)
            yield from _checks(spec)
        case "ResourceFlavor":
            if name := spec.get("topologyName"):
                yield "spec.topologyName", Key("Topology", "", str(name))
        case "LocalQueue":
            name = spec.get("clusterQueue") or ""  # without one nothing is admitted
            yield "spec.clusterQueue", Key("ClusterQueue", "", str(name))
        case "Workload":
            if name := spec.get("queueName"):
                yield "spec.queueName", Key("LocalQueue", key.namespace, str(name))
        case kind if kind in _job_kinds():
            yield from _labels(key, manifest)
            if kind == "TrainJob":
                yield from _runtime(key, spec)
        case _:
            pass


def _job_kinds() -> frozenset[str]:
    return frozenset(entry.name for entry in registry.entries("job-kind"))


def _runtime(key: Key, spec: Mapping[str, Any]) -> Iterator[tuple[str, Key]]:
    reference = spec.get("runtimeRef") or {}
    kind = str(reference.get("kind") or "ClusterTrainingRuntime")
    namespace = "" if kind.startswith("Cluster") else key.namespace
    yield "spec.runtimeRef.name", Key(kind, namespace, str(reference.get("name")))


def _flavors(spec: Mapping[str, Any]) -> Iterator[tuple[str, Key]]:
    for i, group in enumerate(spec.get("resourceGroups") or []):
        for j, flavor in enumerate(group.get("flavors") or []):
            path = f"spec.resourceGroups[{i}].flavors[{j}].name"
            yield path, Key("ResourceFlavor", "", str(flavor.get("name")))


def _checks(spec: Mapping[str, Any]) -> Iterator[tuple[str, Key]]:
    at = "spec.admissionChecksStrategy.admissionChecks"
    strategy = spec.get("admissionChecksStrategy") or {}
    for index, check in enumerate(strategy.get("admissionChecks") or ()):
        name = str(check.get("name"))
        yield f"{at}[{index}].name", Key("AdmissionCheck", "", name)


_CLASS = "kueue.x-k8s.io/priority-class"
_CLASS_OF = "PriorityClass"


def _labels(key: Key, manifest: Mapping[str, Any]) -> Iterator[tuple[str, Key]]:
    labels = manifest["metadata"].get("labels") or {}
    if name := labels.get(QUEUE):
        yield f"metadata.labels.{QUEUE}", Key("LocalQueue", key.namespace, name)
    if name := labels.get(_CLASS):
        path = f"metadata.labels.{_CLASS}"
        yield path, Key("WorkloadPriorityClass", "", name)


def _loops(manifests: Manifests, places: Places) -> Iterator[Finding]:
    parents = {
        key.name: qualified_name(
            str((m.get("spec") or {}).get("parentName") or ""), cluster_of(key)
        )
        for key, m in manifests.items()
        if key.kind == "Cohort"
    }
    reported: set[str] = set()
    for key, document in places.items():
        loop = _loop(key.name, parents) if key.kind == "Cohort" else []
        if loop and not reported.intersection(loop):
            reported.update(loop)
            path = " -> ".join([*loop, loop[0]])
            yield Finding("warning", _place(document), Problem.LOOP.said(known=path))


def _place(document: Document) -> SourceLocation:
    return document.place("spec.parentName")


def _loop(name: str, parents: Mapping[str, str]) -> list[str]:
    """Return the loop that `name` is part of, or nothing."""
    path = [name]
    while (parent := parents.get(path[-1], "")) and parent not in path:
        path.append(parent)
    return path if parent == name else []
