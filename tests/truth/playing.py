"""Plays a script on a sandbox, through its Kubernetes-shaped API and without a server.

A script is `steps`, done one after the other; the README has their forms. Each step
is answered as the API server answered it, and each `see` reads the whole cluster.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable
from typing import Any

import yaml
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.models import Sandbox
from tests.sandbox.conftest import tick
from tests.truth import shown, shown_yunikorn

Document = dict[str, Any]
Seen = dict[str, Any]

QUEUES = "kueue.x-k8s.io/v1beta2"
#: Kind to API version and plural.
RESOURCES = {
    "Namespace": ("v1", "namespaces"),
    "Node": ("v1", "nodes"),
    "Pod": ("v1", "pods"),
    "ConfigMap": ("v1", "configmaps"),
    "LimitRange": ("v1", "limitranges"),
    "PriorityClass": ("scheduling.k8s.io/v1", "priorityclasses"),
    "RuntimeClass": ("node.k8s.io/v1", "runtimeclasses"),
    "PodDisruptionBudget": ("policy/v1", "poddisruptionbudgets"),
    "Job": ("batch/v1", "jobs"),
    "CronJob": ("batch/v1", "cronjobs"),
    "Deployment": ("apps/v1", "deployments"),
    "ReplicaSet": ("apps/v1", "replicasets"),
    "StatefulSet": ("apps/v1", "statefulsets"),
    "DaemonSet": ("apps/v1", "daemonsets"),
    "ResourceFlavor": (QUEUES, "resourceflavors"),
    "ClusterQueue": (QUEUES, "clusterqueues"),
    "Cohort": (QUEUES, "cohorts"),
    "LocalQueue": (QUEUES, "localqueues"),
    "Workload": (QUEUES, "workloads"),
    "WorkloadPriorityClass": (QUEUES, "workloadpriorityclasses"),
    "AdmissionCheck": (QUEUES, "admissionchecks"),
    "Topology": (QUEUES, "topologies"),
}
OF_CLUSTER = frozenset(
    {
        "Namespace",
        "Node",
        "PriorityClass",
        "RuntimeClass",
        "ResourceFlavor",
        "ClusterQueue",
        "Cohort",
        "WorkloadPriorityClass",
        "AdmissionCheck",
        "Topology",
    }
)
PATCHES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
#: YuniKorn's ConfigMap.
CONFIGS = "yunikorn-configs"
#: What was recorded, where a script names no other release.
RELEASE = {
    "kueue": os.environ.get("QUOTALAB_TRUTH_KUEUE") or "0.19.2",
    "kubernetes": "1.36.3",
    "yunikorn": "1.9.0",
}
FRAMEWORKS = ["batch/job", "pod", "deployment", "statefulset"]
#: What the steps of the recorded control plane took, whose kubelet was quick.
LATENCIES = {
    "workloadCreation": "100ms",
    "schedulingCycle": "100ms",
    "admission": "50ms",
    "reactivation": "1s",
    "jobStart": "150ms",
    "podStart": "300ms",
    "readiness": "100ms",
    "completion": "300ms",
    "suspension": "200ms",
    "termination": "500ms",
    "release": "200ms",
}


class Player:
    """One sandbox, one script after the other's steps."""

    def __init__(self, client: APIClient, person: User, script: Document) -> None:
        self.client, self.person, self.script = client, person, script
        self.seen: Seen = {}
        self.files: list[Document] = []
        self.simulation: Document = {"latencies": LATENCIES}
        policy = self._yunikorn() if "queues" in script else self._kueue()
        body = {
            "files": self.files,
            "release": {**RELEASE, **script.get("release", {})},
        }
        made = client.post("/api/v1/sandboxes", body, format="json")
        assert made.status_code == 201, made.content
        self.sandbox = Sandbox.objects.get(pk=made.json()["id"])
        body = {"spec": {**policy, "simulation": self.simulation}}
        code, answer = self.ask("patch", "/policy", body, PATCHES["merge"])
        assert code == 200, answer

    def _kueue(self) -> Document:
        config = {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "integrations": {"frameworks": FRAMEWORKS},
            **copy.deepcopy(self.script.get("config") or {}),
        }
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "default"},
        }
        self.files = [
            {"name": "config.yaml", "text": yaml.safe_dump(config)},
            {"name": "default.yaml", "text": yaml.safe_dump(namespace)},
        ]
        if checks := _checks_of(self.script):  # nobody but the script answers them
            self.simulation["admissionChecks"] = [
                {"check": name, "after": "24h", "answer": "Ready"} for name in checks
            ]
        return {}

    def _yunikorn(self) -> Document:
        queues = _text_of(self.script["queues"])
        document = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": CONFIGS, "namespace": "yunikorn"},
            "data": {**(self.script.get("data") or {}), "queues.yaml": queues},
        }
        self.files = [{"name": "configs.yaml", "text": yaml.safe_dump(document)}]
        return {"stack": "yunikorn"}

    def ask(
        self, method: str, path: str, body: Any = None, media: str = "application/json"
    ) -> tuple[int, Any]:
        """Return the code and the body of an answer."""
        url = f"/api/v1/sandboxes/{self.sandbox.pk}{path}"
        given = {} if body is None else {"data": json.dumps(body)}
        answer = getattr(self.client, method)(url, content_type=media, **given)
        return answer.status_code, answer.json() if answer.content else None

    def list(self, kind: str) -> list[Document]:
        """Return all objects of a kind."""
        code, answer = self.ask("get", _path(kind, "", every=True))
        return answer["items"] if code == 200 else []

    def play(self) -> Seen:
        """Do all steps; return what was answered and what was seen."""
        for number, step in enumerate(self.script["steps"]):
            for name, given in step.items():
                getattr(self, f"_{name}")(number, given)
        return self.seen

    def _apply(self, number: int, documents: list[Document]) -> None:
        for document in documents:
            kind, metadata = document["kind"], document["metadata"]
            path = _path(kind, metadata.get("namespace"), version=document)
            code, answer = self.ask("post", path, document)
            if kind == "Namespace" and code == 409:
                code = 200
            self._answered(f"{number} apply {kind} {metadata['name']}", code, answer)

    def _delete(self, number: int, given: Document) -> None:
        path = _path(given["kind"], given.get("namespace"), given["name"])
        code, answer = self.ask("delete", path, given.get("options"))
        what = f"{number} delete {given['kind']} {given['name']}"
        self._answered(what, code, answer)

    def _patch(self, number: int, given: Document) -> None:
        kind, name = given["kind"], given.get("name")
        if not name:
            name = (self._owned(kind, {given["of"]}) or ["none"])[0]
        path = _path(kind, given.get("namespace"), name, sub=given.get("sub", ""))
        media = PATCHES[given.get("type", "merge")]
        code, answer = self.ask("patch", path, given["body"], media)
        what = given.get("name") or f"of {given['of']}"
        self._answered(f"{number} patch {kind} {what}", code, answer)

    def _deletePodOf(self, number: int, owner: str) -> None:  # noqa: N802 - a step
        names = {owner, *self._owned("Workload", {owner})}
        if pods := self._owned("Pod", names):
            self.ask("delete", _path("Pod", "default", pods[0]))

    def _deleteOf(self, number: int, given: Document) -> None:  # noqa: N802 - a step
        code, answer = 404, None
        if names := self._owned(given["kind"], {given["of"]}):
            path = _path(given["kind"], given.get("namespace"), names[0])
            code, answer = self.ask("delete", path)
        what = f"{number} delete {given['kind']} of {given['of']}"
        self._answered(what, code, answer)

    def _advance(self, number: int, seconds: float) -> None:
        count = max(1, round(seconds))
        actions.do_step(self.person, self.sandbox.pk, ticks=count)
        tick(self.sandbox, count)

    def _see(self, number: int, label: str) -> None:
        self.seen[f"{number} see {label}"] = (
            shown_yunikorn.cluster_as_seen(self.list, self._asked)
            if "queues" in self.script
            else shown.cluster_as_seen(self.list)
        )

    def _asked(self, path: str) -> Any:
        code, answer = self.ask("get", path)
        return answer if code == 200 else None

    def _config(self, number: int, given: Document | str) -> None:
        path = _path("ConfigMap", "yunikorn", CONFIGS)
        body = {"data": {"queues.yaml": _text_of(given)}}
        code, answer = self.ask("patch", path, body, PATCHES["merge"])
        self._answered(f"{number} config", code, answer)

    def _owned(self, kind: str, owners: set[str]) -> list[str]:
        return sorted(
            one["metadata"]["name"]
            for one in self.list(kind)
            for owner in one["metadata"].get("ownerReferences") or []
            if owner["name"] in owners
        )

    def _answered(self, what: str, code: int, answer: Any) -> None:
        self.seen[what] = "accepted" if code < 300 else f"refused {code}"
        if code >= 300 and isinstance(answer, dict):
            self.seen.setdefault("# messages", {})[what] = answer.get("message", "")


def _text_of(queues: Document | str) -> str:
    if isinstance(queues, str):
        return queues
    return yaml.safe_dump(queues, sort_keys=False)


def _checks_of(script: Document) -> Iterable[str]:
    return sorted(
        {
            document["metadata"]["name"]
            for step in script["steps"]
            for document in step.get("apply") or []
            if document["kind"] == "AdmissionCheck"
        }
    )


def _path(
    kind: str,
    namespace: str | None,
    name: str = "",
    *,
    sub: str = "",
    version: Document | None = None,
    every: bool = False,
) -> str:
    group_version, plural = RESOURCES[kind]
    if version is not None:
        group_version = version["apiVersion"]
    root = "/api/v1" if group_version == "v1" else f"/apis/{group_version}"
    if kind not in OF_CLUSTER and not every:
        root += f"/namespaces/{namespace or 'default'}"
    return "/".join(part for part in (f"{root}/{plural}", name, sub) if part)
