"""Asking extenders, and what their answers do.

Source: docs/semantics/kube-scheduler.md#extenders.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import numpy as np

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.node_info import Ints, Mask
from scheduler.engine.kube.extender.ports import ExtenderError, Port, states
from scheduler.engine.kube.framework.plugin import Candidate
from scheduler.engine.kube.framework.status import OK, Code, Status, error
from scheduler.model.durations import duration_text
from scheduler.model.kube.configuration import Extender
from scheduler.model.objects import Key
from scheduler.model.pod import Pod

PSEUDO_PLUGIN = "Extender"
_SCALE = 10  # an extender scores 0..10, the total counts 0..100

Documents = Callable[[Key], dict[str, Any]]


class ExtenderRecord(msgspec.Struct, rename="camel"):
    """What the extenders last answered about a pod, by node name.

    `refused` has code and message, `scores` what was added to the totals.
    """

    refused: dict[str, tuple[int, str]] = {}
    scores: dict[str, int] = {}
    problem: str = ""


class Request(NamedTuple):
    """One request as it goes out: its verb, how many nodes it is about, its bytes."""

    verb: str
    nodes: int
    size: int


class Extenders:
    """The extenders of one scheduler, asked through a port."""

    def __init__(
        self,
        extenders: list[Extender],
        port: Port,
        documents: Documents,
        latency_ms: Callable[[Extender], int] = lambda _: 0,
    ) -> None:
        self.extenders = extenders
        self.port = port
        self._documents = documents
        self._latency_ms = latency_ms
        self.recorded: dict[Key, ExtenderRecord] = {}  # the last answers, by pod
        #: gets every request about nodes; None in normal runs
        self.requests: list[Request] | None = None

    @property
    def any_filter(self) -> bool:
        """Return whether any extender filters."""
        return any(extender.filter_verb for extender in self.extenders)

    def filtering(self, pod: Pod) -> bool:
        """Return whether one of them filters for this pod."""
        return bool(self.extenders) and any(
            e.filter_verb and e.wants(pod) for e in self.extenders
        )

    def strips(self, pod: Pod) -> bool:
        """Return whether a filter hands nodes back as documents, without their pods."""
        return bool(self.extenders) and any(
            e.filter_verb and not e.node_cache_capable and e.wants(pod)
            for e in self.extenders
        )

    # --- time, and what is kept

    def _call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        if self.requests is not None:
            given = payload["NodeNames"] or payload["Nodes"]["items"]
            size = len(msgspec.json.encode(payload))
            self.requests.append(Request(verb, len(given), size))
        if self._latency_ms(extender) > extender.timeout_ms:
            raise ExtenderError(
                f"extender {extender.url_prefix}: no answer within "
                f"{duration_text(extender.timeout_ms)}"
            )
        return self.port.call(extender, verb, payload)

    def _takes_ms(self, extender: Extender) -> int:
        return min(self._latency_ms(extender), extender.timeout_ms)

    def take_time(self, pod: Pod) -> bool:
        """Return whether a call of a scheduling cycle of this pod may take time."""
        return any(
            self._takes_ms(e)
            for e in self.extenders
            if (e.filter_verb or e.prioritize_verb) and e.wants(pod)
        )

    def filter_ms(
        self, pod: Pod, mask: Mask, cluster: ClusterCache
    ) -> tuple[int, Mask]:
        """Return how long the filters take about these nodes, and what they leave.

        One after another is asked while nodes are left; after an error that ends
        the cycle none are. One without stated answers is taken to keep every node.
        Source: docs/semantics/kube-scheduler.md#extenders.
        """
        left, took = mask, 0
        for extender in self.extenders:
            if not left.any() or not extender.filter_verb or not extender.wants(pod):
                continue
            took += self._takes_ms(extender)
            if not states(self.port, extender):
                continue
            try:
                kept, _, _ = self._filter_one(extender, pod, left, cluster)
            except ExtenderError:
                if extender.ignorable:
                    continue
                return took, np.zeros(len(mask), dtype=np.bool_)
            left = _only(kept, len(mask), cluster)
        return took, left

    def prioritize_ms(self, pod: Pod) -> int:
        """Return how long the prioritizers take: all are asked at once."""
        return max(
            (
                self._takes_ms(e)
                for e in self.extenders
                if e.prioritize_verb and e.wants(pod)
            ),
            default=0,
        )

    def bind_ms(self, pod: Pod) -> int:
        """Return how long the extender that binds this pod takes; 0 without one."""
        binder = self.binder(pod)
        return self._takes_ms(binder) if binder is not None else 0

    def answer(
        self, pod: Pod, mask: Mask, cluster: ClusterCache
    ) -> tuple[ExtenderRecord, list[Request]]:
        """Return the extenders' answers about a pod, and the requests; change nothing.

        Stated answers are asked for again; of the others, the last one counts, and no
        request is made. Sizes are those of JSON without spaces, of objects as they are
        held here: a real Node has more in its status.
        """
        asked = [e for e in self.extenders if e.wants(pod)]
        if not asked or not all(states(self.port, e) for e in asked):
            return self.recorded.get(pod.key, ExtenderRecord()), []
        kept, made = self.recorded.get(pod.key), list[Request]()
        self.requests = made
        try:
            left, _, _ = self.filter(pod, mask, cluster)
            if left.any():
                self.prioritize(pod, left, cluster)
            return self.recorded.pop(pod.key), made
        finally:
            self.requests = None
            if kept is not None:
                self.recorded[pod.key] = kept

    def _record(
        self,
        pod: Pod,
        refused: dict[int, Status],
        problem: Status,
        cluster: ClusterCache,
    ) -> None:
        names = cluster.node_table.names
        self.recorded[pod.key] = ExtenderRecord(
            refused={
                names[row]: (int(status.code), status.message)
                for row, status in refused.items()
            },
            problem=problem.message,
        )

    # --- filter

    def filter(
        self, pod: Pod, mask: Mask, cluster: ClusterCache
    ) -> tuple[Mask, dict[int, Status], Status]:
        """Ask one after another about the nodes that are left.

        Returns the mask, the refused rows, and an error that ends the cycle.
        """
        left, refused, problem = self._filter(pod, mask, cluster)
        self._record(pod, refused, problem, cluster)
        return left, refused, problem

    def _filter(
        self, pod: Pod, mask: Mask, cluster: ClusterCache
    ) -> tuple[Mask, dict[int, Status], Status]:
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
            left = _only(kept, len(mask), cluster)
        return left, refused, OK

    def _filter_one(
        self, extender: Extender, pod: Pod, mask: Mask, cluster: ClusterCache
    ) -> tuple[list[str], dict[str, str], dict[str, str]]:
        names = _names(mask, cluster)
        payload = self._question(extender, pod, names)
        answer = _fields(self._call(extender, extender.filter_verb, payload))
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
        """Return the scores to add to the totals; a failed call adds nothing."""
        total: Ints | None = None
        for extender in self.extenders:
            if not extender.prioritize_verb or not extender.wants(pod):
                continue
            payload = self._question(extender, pod, _names(mask, cluster))
            try:
                answer = self._call(extender, extender.prioritize_verb, payload)
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
        if total is not None:
            names = cluster.node_table.names
            record = self.recorded.setdefault(pod.key, ExtenderRecord())
            record.scores = {
                names[row]: int(total[row]) for row in np.flatnonzero(total)
            }
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
        answer = _fields(self._call(extender, extender.preempt_verb, payload))
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
            answer = _fields(self._call(extender, extender.bind_verb, payload))
            problem = str(answer.get("error") or "")
        except ExtenderError as failure:
            problem = str(failure)
        if not problem:
            return OK
        return Status(Code.SKIP) if extender.ignorable else error(problem)


def _only(names: list[str], size: int, cluster: ClusterCache) -> Mask:
    mask: Mask = np.zeros(size, dtype=np.bool_)
    mask[[cluster.node_infos[name].row for name in names]] = True
    return mask


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
