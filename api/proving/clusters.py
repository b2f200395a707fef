"""A cluster as a server of scripts: everything has names of its own, and goes again.

Only for clusters that are there to be tried on: objects are made and deleted.
"""

from __future__ import annotations

import copy
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from api.proving.playing import (
    DEFAULT_NAMESPACE,
    JSON,
    OF_CLUSTER,
    PATCHES,
    Document,
    Place,
)
from sandbox.following.cluster import ClusterError, WritableCluster
from scheduler.model.amounts import is_whole
from scheduler.model.errors import SchedulerError
from scheduler.model.texts.values import read_value

#: What a cluster without these could not be ruled by; no script may name them.
RESERVED = frozenset({"kube-system", "kube-public", "kube-node-lease", "kueue-system"})
_CONFIGURATION = Place(
    kind="ConfigMap", namespace="kueue-system", name="kueue-manager-config"
)
_MANAGER = Place(
    kind="Deployment", namespace="kueue-system", name="kueue-controller-manager"
)
_CONFIGURATION_KEY = "controller_manager_config.yaml"
#: Of Kueue's Configuration: where it listens, which no script is about.
_OF_SERVERS = (
    "apiVersion",
    "kind",
    "health",
    "metrics",
    "webhook",
    "leaderElection",
    "internalCertManagement",
    "controller",
    "clientConnection",
)
#: Owners first: they would make again what is deleted under them.
_ORDER = (
    "CronJob",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "JobSet",
    "LeaderWorkerSet",
    "PyTorchJob",
    "RayJob",
    "RayCluster",
    "Job",
    "Pod",
    "Workload",
    "LocalQueue",
    "ClusterQueue",
    "Cohort",
    "ResourceFlavor",
    "AdmissionCheck",
    "Topology",
    "WorkloadPriorityClass",
    "PriorityClass",
    "RuntimeClass",
    "Namespace",
    "Node",
)
_LOOK_EVERY_S = 0.4
#: After so long finalizers are taken from what is ours; after so long it is given up.
_PATIENCE_S, _GIVE_UP_S = 8.0, 90.0
_NOT_READY = "node.kubernetes.io/not-ready"


class LeftError(Exception):
    """Objects of a script could not be removed; the message names them."""


class ClusterServer:
    """A cluster for one script; a context manager that removes what was made.

    `wait` lets seconds pass there; `metrics` reads Kueue's metrics, where they can be read.
    """

    def __init__(
        self,
        cluster: WritableCluster,
        mark: str = "",
        wait: Callable[[float], None] = time.sleep,
        metrics: Callable[[], str] | None = None,
    ) -> None:
        self._metrics = metrics
        self.cluster, self.wait = cluster, wait
        self.naming = Naming(mark or f"prove-{secrets.token_hex(2)}-")
        self.namespaces: set[str] = set()

    def __enter__(self) -> ClusterServer:
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": DEFAULT_NAMESPACE},
        }
        code, answer = self.ask("POST", Place(kind="Namespace"), namespace)
        if code >= 300:
            raise ClusterError(f"the first namespace: {_said(answer)}", code)
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def ask(
        self, method: str, place: Place, body: Any = None, media: str = JSON
    ) -> tuple[int, Any]:
        """Return the code and the body of an answer, with the names of the script.

        Raises ClusterError when nobody answers.
        """
        if method == "POST":
            body = self.naming.document(body)
            if place.kind == "Node":
                body = _ready_node(body)
            if place.kind == "Namespace":
                self.namespaces.add(body["metadata"]["name"])
        elif method == "PATCH":
            body = self.naming.patch(body)
        code, answer = self.cluster.send(
            method, self.naming.place(place).path, body, media
        )
        if place.kind == "Node" and method == "POST" and code < 300:
            self._untaint(body["metadata"]["name"])
        return code, self.naming.shown(answer)

    def get(self, path: str) -> Any:
        """Return None: what is no object is no part of a cluster of Kueue."""
        return None

    def metrics(self) -> str | None:
        """Return the series that are the script's, with its names; None if not read."""
        if self._metrics is None:
            return None
        mark = self.naming.mark
        lines = [one for one in self._metrics().splitlines() if mark in one]
        return str(self.naming.shown("\n".join(lines)))

    def objects(self, kind: str) -> list[Document]:
        """Return all objects of a kind that are the script's, with its names."""
        return [self.naming.shown(one) for one in self._ours(kind)]

    def advance(self, seconds: float) -> None:
        """Wait: time passes by itself."""
        self.wait(seconds)

    def releases(self) -> dict[str, str]:
        """Return the releases that the cluster says it runs.

        That of Kueue is the tag of its manager's image; what cannot be read is left out.
        """
        found = {}
        code, answer = self.cluster.send("GET", "/version", None, JSON)
        if code == 200:
            found["kubernetes"] = _release(str(answer["gitVersion"]))
        code, answer = self.cluster.send("GET", _MANAGER.path, None, JSON)
        if code == 200:
            for one in answer["spec"]["template"]["spec"]["containers"]:
                name, _, tag = one["image"].partition("@")[0].rpartition(":")
                if name.endswith("/kueue"):
                    found["kueue"] = _release(tag)
        return found

    def configuration(self) -> Document | None:
        """Return Kueue's Configuration less servers; None if it cannot be read."""
        code, answer = self.cluster.send("GET", _CONFIGURATION.path, None, JSON)
        if code != 200:
            return None
        text = (answer.get("data") or {}).get(_CONFIGURATION_KEY)
        try:
            found = read_value(text or "", file=_CONFIGURATION.name)
        except SchedulerError as error:
            raise ClusterError(str(error)) from error
        if not isinstance(found, dict):
            return None
        return {name: one for name, one in found.items() if name not in _OF_SERVERS}

    def remove(self) -> None:
        """Delete all that is the script's, and wait. Raises LeftError."""
        begin = time.monotonic()
        while left := list(self._left(forced=time.monotonic() > begin + _PATIENCE_S)):
            if time.monotonic() > begin + _GIVE_UP_S:
                named = ", ".join(left)
                raise LeftError(f"still on the cluster, delete by hand: {named}")
            self.wait(_LOOK_EVERY_S)

    def _left(self, *, forced: bool) -> Iterator[str]:
        """Ask for the end of everything; yield what is still there, by name."""
        for kind in _ORDER:
            for one in self._ours(kind):
                metadata = one["metadata"]
                place = Place(
                    kind=kind,
                    namespace=metadata.get("namespace", ""),
                    name=metadata["name"],
                )
                yield f"{kind} {metadata['name']}"
                if not metadata.get("deletionTimestamp"):
                    options: Document = {"propagationPolicy": "Background"}
                    if kind == "Pod":
                        options["gracePeriodSeconds"] = 0
                    self.cluster.send("DELETE", place.path, options, JSON)
                elif forced and metadata.get("finalizers"):
                    none = {"metadata": {"finalizers": None}}
                    self.cluster.send("PATCH", place.path, none, PATCHES["merge"])

    def _ours(self, kind: str) -> Iterator[Document]:
        if kind in OF_CLUSTER:
            for one in self._listed(Place(kind=kind)):
                if one["metadata"]["name"].startswith(self.naming.mark):
                    yield one
            return
        for namespace in sorted(self.namespaces):
            yield from self._listed(Place(kind=kind, namespace=namespace))

    def _listed(self, place: Place) -> list[Document]:
        code, answer = self.cluster.send("GET", place.path, None, JSON)
        if code == 404:  # its CRD is not installed
            return []
        if code != 200:
            raise ClusterError(f"{place.path}: {_said(answer)}", code)
        found: list[Document] = answer["items"]
        return found

    def _untaint(self, name: str) -> None:
        """Let a node take pods: who made it says that it is ready."""
        path = Place(kind="Node", name=name).path
        code, node = self.cluster.send("GET", path, None, JSON)
        taints = node["spec"].get("taints") or [] if code == 200 else []
        kept = [one for one in taints if one["key"] != _NOT_READY]
        if len(kept) != len(taints):
            body = {"spec": {"taints": kept or None}}
            self.cluster.send("PATCH", path, body, PATCHES["merge"])


def namespaces_of(script: Document) -> set[str]:
    """Return the namespaces that the steps of a script name."""
    found = {DEFAULT_NAMESPACE}
    for step in script["steps"]:
        for name, given in step.items():
            listed = given if isinstance(given, list) else [given]
            for one in listed:
                if not isinstance(one, dict):
                    continue
                metadata = one.get("metadata", {}) if name == "apply" else one
                if one.get("kind") == "Namespace":
                    found.add(metadata["name"])
                elif metadata.get("namespace"):
                    found.add(metadata["namespace"])
    return found


def _ready_node(given: Document) -> Document:
    """Return a node as a kubelet would report it: ready, with room for its pods."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    metadata, status = dict(given["metadata"]), dict(given.get("status") or {})
    # KWOK looks after nodes that have this annotation, and runs their pods.
    notes = {"kwok.x-k8s.io/node": "fake", **(metadata.get("annotations") or {})}
    status.setdefault("capacity", status.get("allocatable"))
    status.setdefault(
        "conditions",
        [
            {
                "type": "Ready",
                "status": "True",
                "reason": "KubeletReady",
                "lastHeartbeatTime": now,
                "lastTransitionTime": now,
            }
        ],
    )
    return {**given, "metadata": {**metadata, "annotations": notes}, "status": status}


def _release(version: str) -> str:
    """Return 1.36.3 of v1.36.3+k3s1 and of v1.36.3-gke.100."""
    return version.removeprefix("v").partition("+")[0].partition("-")[0]


def _said(answer: Any) -> str:
    return str((answer or {}).get("message", "no answer"))


# ------------------------------------------------------------------------
# Names of its own for a script on a cluster that is not its own.


#: Fields and labels whose value is the name of a namespace or of a cluster's object.
_NAMES = frozenset(
    {
        "clusterQueue",
        "cohort",
        "cohortName",
        "namespace",
        "nodeName",
        "parentName",
        "priorityClassName",
        "runtimeClassName",
        "topologyName",
        "kubernetes.io/hostname",
        "kubernetes.io/metadata.name",
        "kueue.x-k8s.io/priority-class",
    }
)
#: Fields with a list of such names, of objects with a `name`, or a map to names.
_LISTS = frozenset(
    {"admissionChecks", "flavors", "namespaces", "onFlavors", "priorityClassRef"}
)
_BUILT_IN = "system-"  # PriorityClasses that every cluster has
_EXPRESSION = {"key", "operator", "values"}


@dataclass(frozen=True, slots=True)
class Naming:
    """A mark, such as `prove-1f3a-`, and its way in and out of documents."""

    mark: str

    def place(self, place: Place) -> Place:
        """Return where an object is on the cluster."""
        namespace = place.namespace and self._name(place.namespace)
        name = place.name
        if name and place.kind in OF_CLUSTER:
            name = self._name(name)
        return replace(place, namespace=namespace, name=name)

    def document(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return a manifest as the cluster gets it."""
        made: dict[str, Any] = self.value(copy.deepcopy(given))
        metadata = made.get("metadata") or {}
        for field in ("name", "generateName"):
            if made.get("kind") in OF_CLUSTER and metadata.get(field):
                metadata[field] = self._name(metadata[field])
        return made

    def patch(self, given: Any) -> Any:
        """Return a patch as the cluster gets it: a merge patch, or operations."""
        if not isinstance(given, list):
            return self.value(given)
        return [
            {**one, "value": self.value(one["value"], _field(one["path"]))}
            if "value" in one
            else one
            for one in given
        ]

    def value(self, value: Any, field: str = "") -> Any:
        """Return the value of a field with the mark before each name in it."""
        if isinstance(value, list):
            return [self.value(one, field) for one in value]
        if isinstance(value, dict):
            if {*value} <= _EXPRESSION and value.get("key") in _NAMES:
                named = [self._name(one) for one in value.get("values") or []]
                return {**value, "values": named}
            return {name: self._member(field, name, one) for name, one in value.items()}
        if isinstance(value, str) and field in (_NAMES | _LISTS):
            return self._name(value)
        return value

    def shown(self, value: Any) -> Any:
        """Return what a cluster answers without the mark."""
        if isinstance(value, str):
            return value.replace(self.mark, "")
        if isinstance(value, list):
            return [self.shown(one) for one in value]
        if isinstance(value, dict):
            return {self.shown(name): self.shown(one) for name, one in value.items()}
        return value

    def _member(self, field: str, name: str, value: Any) -> Any:
        if isinstance(value, str) and field in _LISTS:
            # {name: spot} in a list; of an admission {cpu: spot}.
            is_name = field == "flavors" or name == "name"
            return self._name(value) if is_name else value
        return self.value(value, name)

    def _name(self, name: str) -> str:
        if not name or name.startswith((_BUILT_IN, self.mark)):
            return name
        return f"{self.mark}{name}"


def _field(path: str) -> str:
    """Return the last name in a JSON pointer that is no index."""
    parts = [part for part in path.split("/") if part and not is_whole(part)]
    named = [part for part in parts if part != "-"]
    return named[-1].replace("~1", "/").replace("~0", "~") if named else ""
