"""What the asker may do, as `kubectl auth can-i` asks it: from role and token.

Source: SelfSubjectAccessReview and SelfSubjectRulesReview of
<https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/>
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from api.cluster import parsers, resources, subresources
from api.cluster.base import ClusterView
from api.cluster.resources import Resource
from sandbox.models import Sandbox, Token

Document = dict[str, Any]
GROUP = "authorization.k8s.io"
KINDS = {
    "selfsubjectaccessreviews": "SelfSubjectAccessReview",
    "selfsubjectrulesreviews": "SelfSubjectRulesReview",
}
_READS = frozenset({"get", "list", "watch"})
_PATHS = ("/api", "/apis", "/openapi", "/version")
_VISIBLE = ("clusterqueues/pendingworkloads", "localqueues/pendingworkloads")


class Answer(NamedTuple):
    """Whether it is allowed; why not."""

    allowed: bool
    reason: str = ""


class ReviewView(ClusterView):
    """A question in a body, answered with the body and a status; nothing is kept."""

    scope = "read"
    parser_classes: Any = parsers.OBJECTS

    def may_write(self, sandbox: Sandbox) -> Answer:
        """Return whether the asker may edit the sandbox, through this token."""
        token = self.request.auth
        if isinstance(token, Token) and not token.allows("write"):
            return Answer(False, f"the token {token.name!r} only reads")
        found = Sandbox.objects.editable_by(self.user()).filter(pk=sandbox.pk)
        if not found.exists():
            return Answer(False, "you may look at this sandbox but not change it")
        return Answer(True)

    def asked(self, kind: str) -> Document:
        """Return the `spec` of the question. Raises ValidationError."""
        given = self.request.data
        spec = given.get("spec") if isinstance(given, dict) else None
        if not isinstance(spec, dict):
            raise ValidationError({"spec": f"expected the spec of a {kind}"})
        return spec

    def reply(self, kind: str, spec: Document, status: Document) -> Response:
        """Return the review with its status."""
        body = {"kind": kind, "apiVersion": f"{GROUP}/v1", "metadata": {}}
        return Response({**body, "spec": spec, "status": status}, status=201)


class WhoAmI(ReviewView):
    """POST authentication.k8s.io/v1 selfsubjectreviews: who am I here?"""

    def post(self, request: Request, sandbox_id: str) -> Response:
        """Return the name that the asker has signed in with."""
        self.sandbox(sandbox_id)
        info = {
            "username": self.user().get_username(),
            "groups": ["system:authenticated"],
        }
        body = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
        made = {"creationTimestamp": None}
        return Response(
            {**body, "metadata": made, "status": {"userInfo": info}}, status=201
        )


class AccessReview(ReviewView):
    """POST selfsubjectaccessreviews: may I do this one thing?"""

    def post(self, request: Request, sandbox_id: str) -> Response:
        """Answer yes or no, with the reason of a no."""
        sandbox = self.sandbox(sandbox_id)
        spec = self.asked("SelfSubjectAccessReview")
        attributes = spec.get("resourceAttributes")
        path = spec.get("nonResourceAttributes")
        if isinstance(attributes, dict) and path is None:
            answer = _of_resource(attributes)
            if answer.allowed and _changes(attributes):
                answer = self.may_write(sandbox)
        elif isinstance(path, dict) and attributes is None:
            answer = _of_path(path)
        else:
            one = "expected resourceAttributes or nonResourceAttributes, one of them"
            raise ValidationError({"spec": one})
        status = {"allowed": answer.allowed}
        said = {"reason": answer.reason} if answer.reason else {}
        return self.reply("SelfSubjectAccessReview", spec, {**status, **said})


class RulesReview(ReviewView):
    """POST selfsubjectrulesreviews: what may I do?"""

    def post(self, request: Request, sandbox_id: str) -> Response:
        """Return every resource with the verbs that the asker may use."""
        sandbox = self.sandbox(sandbox_id)
        spec = self.asked("SelfSubjectRulesReview")
        writes = self.may_write(sandbox).allowed
        paths = [path for root in _PATHS for path in (root, f"{root}/*")]
        status = {
            "resourceRules": list(_rules(writes=writes)),
            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": paths}],
            "incomplete": False,
        }
        return self.reply("SelfSubjectRulesReview", spec, status)


def _verbs() -> dict[tuple[str, str], list[str]]:
    """Return (group, resource or resource/subresource) -> the verbs that are served."""
    found: dict[tuple[str, str], list[str]] = {}
    for resource in resources.SERVED.values():
        found.update(_of_one(resource))
    found |= {(GROUP, name): ["create"] for name in KINDS}
    group = "visibility.kueue.x-k8s.io"
    return found | {(group, name): ["get"] for name in _VISIBLE}


def _of_one(resource: Resource) -> dict[tuple[str, str], list[str]]:
    group, plural = resource.kind.group, resource.kind.plural
    parts = {
        (group, f"{plural}/{part.name}"): part.verbs
        for part in subresources.served(resource)
    }
    return {(group, plural): resource.verbs} | parts


def _rules(*, writes: bool) -> list[Document]:
    rules = []
    for (group, name), served in _verbs().items():
        own = writes or group == GROUP
        verbs = [verb for verb in served if own or verb in _READS]
        if verbs:
            rules.append({"verbs": verbs, "apiGroups": [group], "resources": [name]})
    return rules


def _of_resource(attributes: Document) -> Answer:
    """Return whether anybody may do it here.

    As in a cluster, who may do it to all may do it to what does not exist.
    """
    verb, plural = attributes.get("verb"), attributes.get("resource")
    if not verb or not plural:
        raise ValidationError(
            {"spec.resourceAttributes": "expected a verb and a resource"}
        )
    if plural == "events" and verb not in _READS and verb != "*":
        return Answer(False, "events are written by the simulation alone")
    return Answer(True)


def _changes(attributes: Document) -> bool:
    """Return whether it takes more than to look; a review is a question."""
    return attributes.get("verb") not in _READS and attributes.get("group") != GROUP


def _of_path(asked: Document) -> Answer:
    path, verb = str(asked.get("path") or ""), asked.get("verb")
    known = any(path == root or path.startswith(f"{root}/") for root in _PATHS)
    if verb == "get" and known:
        return Answer(True)
    return Answer(False, f"only get of {', '.join(_PATHS)} is served")
