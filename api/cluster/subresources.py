"""What is asked of an object below its name: eviction, binding, scale.

Source: Eviction (policy/v1), Binding (v1) and Scale (autoscaling/v1) of
<https://kubernetes.io/docs/reference/kubernetes-api/>
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from api.cluster import json_words, reading, refusals, resources
from api.cluster.delete_options import read_options
from api.cluster.deleting import Deletion
from api.cluster.objects import ObjectView, Present
from api.cluster.patches import patched
from api.cluster.presenting import complete
from api.cluster.resources import Resource
from api.views.base import flag
from sandbox import actions
from sandbox.models import Sandbox
from scheduler.model.objects import Key

Document = dict[str, Any]
#: What goes into a pod, and the kind of its options.
INSIDE = {
    "attach": "PodAttachOptions",
    "exec": "PodExecOptions",
    "portforward": "PodPortForwardOptions",
}
SCALED = frozenset({"Deployment", "ReplicaSet", "StatefulSet"})


class Served(NamedTuple):
    """One subresource as discovery lists it."""

    name: str
    group: str
    version: str
    kind: str
    verbs: list[str]


def served(resource: Resource) -> list[Served]:
    """Return the subresources of a resource; events have none."""
    kind = resource.kind
    if resource.is_events:
        return []
    reads = ["get", "patch", "update"]
    found = []
    if resource.has_status:
        found.append(Served("status", kind.group, resource.version, kind.kind, reads))
    if kind.kind == "Pod":
        found.append(Served("binding", "", "v1", "Binding", ["create"]))
        found.append(Served("log", "", "v1", "Pod", ["get"]))
        found.append(Served("ephemeralcontainers", "", "v1", "Pod", reads))
        for name, options in INSIDE.items():
            found.append(Served(name, "", "v1", options, ["create", "get"]))
        found.append(Served("eviction", "policy", "v1", "Eviction", ["create"]))
    if kind.kind in SCALED:
        found.append(Served("scale", "autoscaling", "v1", "Scale", reads))
    return found


class EphemeralContainers(Present):
    """.../ephemeralcontainers of a pod: what `kubectl debug` adds to it."""

    def put(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Replace them; all else that is given of the pod is left as it is."""
        return self._write(sandbox_id, name, places, lambda _: request.data)

    def patch(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Patch the subresource by a patch of the pod."""
        return self._write(sandbox_id, name, places, _patch_of(request))

    def _write(
        self,
        sandbox_id: str,
        name: str,
        places: dict[str, str],
        change: Callable[[Document], Any],
    ) -> Response:
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        with self.changing(sandbox, resource, places) as written:
            row = written.row(name)
            document = copy.deepcopy(reading.kept_document(row, resource))
            given = change(copy.deepcopy(document))
            spec = given.get("spec") if isinstance(given, dict) else None
            found = spec.get("ephemeralContainers") if isinstance(spec, dict) else None
            document["spec"]["ephemeralContainers"] = found or []
            document["metadata"]["resourceVersion"] = ""
            return self.answer(written.replace(row, document), written, 200)


def _patch_of(request: Request) -> Callable[[Document], Any]:
    """Return what changes a document as the body of a PATCH says, by its media type."""
    media = (request.content_type or "").partition(";")[0].strip()
    return lambda document: patched(document, request.data, media)


def _done(code: int) -> Response:
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return Response({**body, "code": code}, status=code)


class Log(ObjectView):
    """GET .../pods/{name}/log: nothing runs in a simulated pod, and that is said."""

    def get(
        self, request: Request, sandbox_id: str, *, namespace: str, name: str
    ) -> HttpResponse:
        """Return nothing of a pod without a node, and refuse that of one with a node."""
        pods = resources.find("", "v1", "pods")
        row = reading.get(self.sandbox(sandbox_id).pk, pods, namespace, name)
        if not (row.manifest.get("spec") or {}).get("nodeName"):
            nothing = HttpResponse(status=204)
            del nothing["Content-Type"]
            return nothing
        raise refusals.bad_request(
            f"pod {namespace}/{name} is simulated: no container runs, so there is no "
            "log; `kubectl get events` and `quotalab explain` say what becomes of it"
        )


class Inside(ObjectView):
    """.../exec, attach and portforward of a pod: there is nothing to go into."""

    scope = "read"

    def get(
        self, request: Request, sandbox_id: str, *, namespace: str, name: str
    ) -> HttpResponse:
        """Refuse: as an API server before the pod has a node, and with why after."""
        pods = resources.find("", "v1", "pods")
        row = reading.get(self.sandbox(sandbox_id).pk, pods, namespace, name)
        if not (row.manifest.get("spec") or {}).get("nodeName"):
            why = f"pod {name} does not have a host assigned"
            raise refusals.bad_request(why)
        raise refusals.bad_request(
            f"pod {namespace}/{name} is simulated: no container runs that could be entered"
        )

    post = get


class Eviction(ObjectView):
    """POST .../pods/{name}/eviction: 429 while a disruption budget forbids it."""

    def post(
        self, request: Request, sandbox_id: str, *, namespace: str, name: str
    ) -> Response:
        """Evict the pod."""
        sandbox = self.sandbox(sandbox_id)
        given = request.data if isinstance(request.data, dict) else {}
        metadata = given.get("metadata")
        named = metadata.get("name") if isinstance(metadata, dict) else None
        if named not in (None, "", name):
            why = "name in URL does not match name in Eviction object"
            raise refusals.bad_request(why)
        options = read_options(given.get("deleteOptions"), "deleteOptions")
        pods = resources.find("", "v1", "pods")
        dry = options.dry_run or flag(request, "dryRun")
        with actions.edit_session(self.user(), sandbox.pk) as session:
            row = reading.get(sandbox.pk, pods, namespace, name)
            Deletion(self.user(), session, pods, options).check(row)
            key = Key("Pod", namespace, row.name)
            actions.evict(self.user(), session, key, dry_run=dry)
        return _done(201)


class Binding(ObjectView):
    """POST .../pods/{name}/binding: a scheduler outside of the sandbox says where."""

    def post(
        self, request: Request, sandbox_id: str, *, namespace: str, name: str
    ) -> Response:
        """Bind the pod to the node of `target.name`."""
        sandbox = self.sandbox(sandbox_id)
        target = request.data.get("target") if isinstance(request.data, dict) else None
        node = target.get("name") if isinstance(target, dict) else None
        if not isinstance(node, str) or not node:
            raise ValidationError({"target.name": "expected the name of a Node"})
        pods = resources.find("", "v1", "pods")
        with self.changing(sandbox, pods, {"namespace": namespace}) as change:
            row = change.row(name)
            reading.get(sandbox.pk, resources.find("", "v1", "nodes"), "", node)
            document = copy.deepcopy(reading.kept_document(row, pods))
            held = document["spec"].get("nodeName")
            if held:
                why = f'pod {name} is already assigned to node "{held}"'
                message = (
                    f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
                )
                about = {"name": name, "kind": "pods/binding"}
                raise refusals.RefusalError(409, "Conflict", message, about)
            document["spec"]["nodeName"] = node
            change.replace(row, document)
        return _done(201)


class Scale(ObjectView):
    """.../scale of what has replicas; their controllers are not simulated."""

    def get(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Return how many replicas are wanted."""
        sandbox, resource = self._scaled(sandbox_id, places)
        row = reading.get(sandbox.pk, resource, places.get("namespace", ""), name)
        return Response(_scale_of(reading.document_of(row, resource)))

    def put(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Replace the number."""
        return self._write(sandbox_id, name, places, lambda _: request.data)

    def patch(
        self, request: Request, sandbox_id: str, *, name: str, **places: str
    ) -> Response:
        """Change the number by a patch."""
        return self._write(sandbox_id, name, places, _patch_of(request))

    def _scaled(
        self, sandbox_id: str, places: dict[str, str]
    ) -> tuple[Sandbox, Resource]:
        sandbox, resource = self.sandbox(sandbox_id), self.resource(places)
        if resource.kind.kind not in SCALED:
            raise refusals.not_served()
        return sandbox, resource

    def _write(
        self,
        sandbox_id: str,
        name: str,
        places: dict[str, str],
        change: Callable[[Document], Any],
    ) -> Response:
        sandbox, resource = self._scaled(sandbox_id, places)
        with self.changing(sandbox, resource, places) as written:
            row = written.row(name)
            document = copy.deepcopy(reading.kept_document(row, resource))
            before = _scale_of(complete(copy.deepcopy(document), resource))
            scale = change(before)
            document["spec"]["replicas"] = _replicas(scale, name)
            metadata = scale.get("metadata") if isinstance(scale, dict) else None
            version = (metadata or {}).get("resourceVersion", "")
            document["metadata"]["resourceVersion"] = version
            return Response(_scale_of(written.replace(row, document)))


def _replicas(given: Any, name: str) -> int:
    spec = given.get("spec") if isinstance(given, dict) else None
    wanted = spec.get("replicas", 0) if isinstance(spec, dict) else None
    if not isinstance(wanted, int) or isinstance(wanted, bool):
        found = json_words.type_of(wanted)
        problem = (
            f"json: cannot unmarshal {found} into Go struct field "
            "ScaleSpec.spec.replicas of type int32"
        )
        raise refusals.invalid_patch(msgspec.json.encode(given).decode(), problem)
    if wanted < 0:
        why = f"Invalid value: {wanted}: must be greater than or equal to 0"
        faults = [refusals.Fault("spec.replicas", why)]
        about = {"name": name, "group": "autoscaling", "kind": "Scale"}
        raise refusals.invalid_other("Scale.autoscaling", name, faults, about)
    return wanted


def _scale_of(document: Document) -> Document:
    metadata = document["metadata"]
    fields = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status = {"replicas": (document.get("status") or {}).get("replicas", 0)}
    labels = (document["spec"].get("selector") or {}).get("matchLabels")
    if labels:
        status["selector"] = ",".join(f"{n}={v}" for n, v in sorted(labels.items()))
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {n: metadata[n] for n in fields if n in metadata},
        "spec": {"replicas": document["spec"].get("replicas", 1)},
        "status": status,
    }
