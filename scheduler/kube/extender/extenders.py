"""Scheduler extenders: what is asked of a webhook and what its answer does.

The engine calls nobody: a `Port` carries the question out, and a replay gives
back the recorded answer. Source: docs/semantics/kube-scheduler.md#extenders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec
import numpy as np

from scheduler.durations import milliseconds
from scheduler.errors import PolicyError
from scheduler.kube.cache.cluster import ClusterCache
from scheduler.kube.cache.node_table import Ints, Mask
from scheduler.kube.framework.candidate import Candidate
from scheduler.kube.framework.status import (
    OK,
    Code,
    Status,
    error,
)
from scheduler.records.objects import Key
from scheduler.records.pod import Pod

PSEUDO_PLUGIN = "Extender"
_SCALE = 10  # an extender scores 0..10, the total counts 0..100


class ExtenderError(Exception):
    """A call that failed: refused address, timeout, bad status, bad answer."""


class ManagedResource(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A resource that the extender looks after."""

    name: str
    ignored_by_scheduler: bool = False


class Extender(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """One webhook, as in KubeSchedulerConfiguration; no verb means not asked."""

    url_prefix: str = ""
    filter_verb: str = ""
    prioritize_verb: str = ""
    preempt_verb: str = ""
    bind_verb: str = ""
    weight: int = 0
    enable_https: bool = msgspec.field(name="enableHTTPS", default=False)
    tls_config: dict[str, Any] | None = msgspec.field(name="tlsConfig", default=None)
    http_timeout: str = msgspec.field(name="httpTimeout", default="5s")
    node_cache_capable: bool = False
    managed_resources: list[ManagedResource] = []
    ignorable: bool = False

    @property
    def timeout_ms(self) -> int:
        """Return how long a call may take."""
        return milliseconds(self.http_timeout) or 5000

    def wants(self, pod: Pod) -> bool:
        """Return whether it is asked about this pod."""
        managed = {resource.name for resource in self.managed_resources}
        if not managed:
            return True
        return any(managed & set(c.resources) for c in pod.shape.containers)


class Port(Protocol):
    """How a question leaves the engine; raises ExtenderError."""

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Return the decoded JSON answer."""


class DisabledExtender:
    """The port of a server whose operator allows no address."""

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Refuse."""
        raise ExtenderError(
            f"extender {extender.url_prefix}: calls are off; the operator of this "
            "server has not allowed the address"
        )


class RecordedExtender:
    """Gives back answers in the order in which they were given before."""

    def __init__(self, answers: list[Any]) -> None:
        self._answers = iter(answers)

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Return the next answer; a recorded error is raised again."""
        try:
            answer = next(self._answers)
        except StopIteration:
            raise ExtenderError("no recorded answer is left") from None
        if isinstance(answer, dict) and set(answer) == {"failed"}:
            raise ExtenderError(answer["failed"])
        return answer


class RecordingExtender:
    """Passes questions on and keeps the answers for a replay."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self.answers: list[Any] = []

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Ask, and keep what came."""
        try:
            answer = self._port.call(extender, verb, payload)
        except ExtenderError as problem:
            self.answers.append({"failed": str(problem)})
            raise
        self.answers.append(answer)
        return answer


def read_extenders(items: list[Mapping[str, Any]] | None) -> list[Extender]:
    """Return the extenders, ignorable ones last. Raises PolicyError with the path."""
    found = []
    for index, item in enumerate(items or ()):
        path = f"extenders[{index}]"
        try:
            extender = msgspec.convert(dict(item), Extender)
        except msgspec.ValidationError as problem:
            raise PolicyError(f"{path}: {problem}") from problem
        if not extender.url_prefix:
            raise PolicyError(f"{path}.urlPrefix: expected an address, got none")
        if extender.prioritize_verb and extender.weight <= 0:
            raise PolicyError(
                f"{path}.weight: expected at least 1, got {extender.weight}"
            )
        found.append(extender)
    if sum(bool(extender.bind_verb) for extender in found) > 1:
        raise PolicyError("extenders: expected at most one with a bindVerb")
    return sorted(found, key=lambda extender: extender.ignorable)


Documents = Callable[[Key], dict[str, Any]]


class Extenders:
    """The extenders of one scheduler, asked through a port."""

    def __init__(
        self, extenders: list[Extender], port: Port, documents: Documents
    ) -> None:
        self.extenders = extenders
        self.port = port
        self._documents = documents

    @property
    def any_filter(self) -> bool:
        """Return whether one of them filters."""
        return any(extender.filter_verb for extender in self.extenders)

    def filtering(self, pod: Pod) -> bool:
        """Return whether one of them filters for this pod."""
        return bool(self.extenders) and any(
            e.filter_verb and e.wants(pod) for e in self.extenders
        )

    def strips(self, pod: Pod) -> bool:
        """Return whether a filter hands nodes back as documents, without their pods."""
        return any(
            e.filter_verb and not e.node_cache_capable and e.wants(pod)
            for e in self.extenders
        )

    # --- filter

    def filter(
        self, pod: Pod, mask: Mask, cluster: ClusterCache
    ) -> tuple[Mask, dict[int, Status], Status]:
        """Ask one after another about the nodes that are left.

        Returns the mask, the refused rows, and an error that ends the cycle.
        """
        refused: dict[int, Status] = {}
        left = mask.copy()
        for extender in self.extenders:
            if not left.any() or not extender.filter_verb or not extender.wants(pod):
                continue
            try:
                kept, failed, hopeless = self._filter_one(extender, pod, left, cluster)
            except ExtenderError as problem:
                if extender.ignorable:
                    continue
                return left, refused, error(str(problem))
            self._refuse(refused, failed, Code.UNSCHEDULABLE, cluster)
            self._refuse(refused, hopeless, Code.UNRESOLVABLE, cluster)
            rows = [cluster.node_infos[name].row for name in kept]
            left = np.zeros(len(mask), dtype=np.bool_)
            left[rows] = True
        return left, refused, OK

    def _filter_one(
        self, extender: Extender, pod: Pod, mask: Mask, cluster: ClusterCache
    ) -> tuple[list[str], dict[str, str], dict[str, str]]:
        names = _names(mask, cluster)
        payload = self._question(extender, pod, names)
        answer = _fields(self.port.call(extender, extender.filter_verb, payload))
        if answer.get("error"):
            raise ExtenderError(str(answer["error"]))
        kept = answer.get("nodenames")
        if kept is None:
            nodes = _fields(answer.get("nodes") or {}).get("items") or []
            kept = [node["metadata"]["name"] for node in nodes]
        unknown = [name for name in kept if name not in names]
        if unknown:
            raise ExtenderError(
                f"extender {extender.url_prefix} claims a filtered node "
                f"{unknown[0]!r} that was not in the question"
            )
        return (
            list(kept),
            dict(answer.get("failednodes") or {}),
            dict(answer.get("failedandunresolvablenodes") or {}),
        )

    def _refuse(
        self,
        refused: dict[int, Status],
        messages: dict[str, str],
        code: Code,
        cluster: ClusterCache,
    ) -> None:
        for name, message in messages.items():
            if name in cluster.node_infos:
                status = Status(code, (message,), PSEUDO_PLUGIN)
                refused[cluster.node_infos[name].row] = status

    def _question(
        self, extender: Extender, pod: Pod, names: list[str]
    ) -> dict[str, Any]:
        question: dict[str, Any] = {"Pod": self._documents(pod.key)}
        if extender.node_cache_capable:
            return {**question, "Nodes": None, "NodeNames": names}
        items = [self._documents(Key("Node", "", name)) for name in names]
        nodes = {"apiVersion": "v1", "kind": "NodeList", "metadata": {}, "items": items}
        return {**question, "Nodes": nodes, "NodeNames": None}

    # --- prioritize

    def prioritize(self, pod: Pod, mask: Mask, cluster: ClusterCache) -> Ints | None:
        """Return what to add to the totals; a failed call adds nothing."""
        total: Ints | None = None
        for extender in self.extenders:
            if not extender.prioritize_verb or not extender.wants(pod):
                continue
            payload = self._question(extender, pod, _names(mask, cluster))
            try:
                answer = self.port.call(extender, extender.prioritize_verb, payload)
                given = [_fields(item) for item in answer]
            except ExtenderError:
                continue
            if total is None:
                total = np.zeros(len(mask), dtype=np.int64)
            for item in given:
                node_info = cluster.node_infos.get(str(item.get("host")))
                if node_info is not None:
                    score = int(item.get("score") or 0)
                    total[node_info.row] += score * extender.weight * _SCALE
        return total

    # --- preempt

    def preempt(
        self, pod: Pod, candidates: list[Candidate], cluster: ClusterCache
    ) -> tuple[list[Candidate], Status]:
        """Let each drop candidates or change victims."""
        for extender in self.extenders:
            if not candidates or not extender.preempt_verb or not extender.wants(pod):
                continue
            try:
                candidates = self._preempt_one(extender, pod, candidates, cluster)
            except ExtenderError as problem:
                if not extender.ignorable:
                    return [], error(str(problem))
        return candidates, OK

    def _preempt_one(
        self,
        extender: Extender,
        pod: Pod,
        candidates: list[Candidate],
        cluster: ClusterCache,
    ) -> list[Candidate]:
        payload = {"Pod": self._documents(pod.key)}
        field = "NodeNameToMetaVictims"
        if not extender.node_cache_capable:
            field = "NodeNameToVictims"
        payload[field] = {
            c.node: {
                "Pods": [self._victim(extender, victim) for victim in c.victims],
                "NumPDBViolations": c.violations,
            }
            for c in candidates
        }
        answer = _fields(self.port.call(extender, extender.preempt_verb, payload))
        kept = []
        for node, victims in (answer.get("nodenametometavictims") or {}).items():
            candidate = _candidate(node, _fields(victims), cluster)
            if candidate.victims:
                kept.append(candidate)
            elif not extender.ignorable:
                raise ExtenderError(f"extender returned no victims on node {node!r}")
        return kept

    def _victim(self, extender: Extender, victim: Pod) -> dict[str, Any]:
        if extender.node_cache_capable:
            return {"UID": victim.uid}
        return self._documents(victim.key)

    # --- bind

    def binder(self, pod: Pod) -> Extender | None:
        """Return the extender that binds this pod, if one does."""
        for extender in self.extenders:
            if extender.bind_verb and extender.wants(pod):
                return extender
        return None

    def bind(self, extender: Extender, pod: Pod, node: str) -> Status:
        """Ask the extender to bind; Skip when it failed and is ignorable."""
        payload = {
            "PodName": pod.name,
            "PodNamespace": pod.namespace,
            "PodUID": pod.uid,
            "Node": node,
        }
        try:
            answer = _fields(self.port.call(extender, extender.bind_verb, payload))
            problem = str(answer.get("error") or "")
        except ExtenderError as failure:
            problem = str(failure)
        if not problem:
            return OK
        return Status(Code.SKIP) if extender.ignorable else error(problem)


def _names(mask: Mask, cluster: ClusterCache) -> list[str]:
    return [cluster.node_table.names[row] for row in np.flatnonzero(mask)]


def _fields(answer: Any) -> dict[str, Any]:
    """Return an answer's fields by lower-case name, as Go reads them."""
    if not isinstance(answer, dict):
        raise ExtenderError(f"expected an object, got {type(answer).__name__}")
    return {str(name).lower(): value for name, value in answer.items()}


def _candidate(node: str, victims: dict[str, Any], cluster: ClusterCache) -> Candidate:
    node_info = cluster.node_infos.get(node)
    if node_info is None:
        raise ExtenderError(f"extender returned an unknown node {node!r}")
    by_uid = {pod.uid: pod for pod in node_info.pods.values()}
    pods = []
    for item in victims.get("pods") or ():
        uid = str(_fields(item).get("uid", ""))
        if uid not in by_uid:
            raise ExtenderError(f"extender returned a victim {uid!r} not on {node!r}")
        pods.append(by_uid[uid])
    violations = int(victims.get("numpdbviolations") or 0)
    return Candidate(node, tuple(pods), violations)
