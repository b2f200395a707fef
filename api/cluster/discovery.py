"""What the cluster serves: /version, /api, /apis and the resources of each group.

Source: <https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api>
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from api.cluster import access_reviews, refusals, resources, subresources
from api.cluster.base import ClusterView
from api.cluster.resources import Resource
from sandbox.base.errors import NotFoundError
from scheduler.model import schemas
from scheduler.model.problems import RequestProblem

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_OF_ALL = frozenset(
    {
        "CronJob",
        "DaemonSet",
        "Deployment",
        "Job",
        "Pod",
        "ReplicaSet",
        "Service",
        "StatefulSet",
    }
)
WHO = "authentication.k8s.io"
VISIBILITY = "visibility.kueue.x-k8s.io"
#: Groups that are answered and have no objects.
_COMPUTED = {
    VISIBILITY: ["v1beta2", "v1beta1"],
    access_reviews.GROUP: ["v1"],
    WHO: ["v1"],
}


class Version(ClusterView):
    """GET /version."""

    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return a Kubernetes version that clients take for a recent one."""
        self.sandbox(sandbox_id)
        return Response(
            {
                "major": "1",
                "minor": "36",
                "gitVersion": "v1.36.3",
                "gitCommit": "",
                "gitTreeState": "clean",
                "buildDate": "1970-01-01T00:00:00Z",
                "goVersion": "",
                "compiler": "gc",
                "platform": "simulated",
            }
        )


class Paths(ClusterView):
    """GET /: the paths that are served."""

    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the paths."""
        self.sandbox(sandbox_id)
        groups = {**resources.groups(), **_COMPUTED}
        places = [f"/apis/{g}/{v}" for g, versions in groups.items() for v in versions]
        roots = ["/api", "/api/v1", "/apis", *(f"/apis/{g}" for g in groups), *places]
        own = ["/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3"]
        return Response({"paths": sorted([*roots, *own, "/readyz", "/version"])})


class Alive(ClusterView):
    """GET /healthz, /livez, /readyz: a sandbox that can be read answers."""

    def get(self, request: Request, sandbox_id: str) -> HttpResponse:
        """Return ok."""
        self.sandbox(sandbox_id)
        return HttpResponse("ok", content_type="text/plain; charset=utf-8")


class Unserved(ClusterView):
    """Any path below a sandbox that nothing else has.

    A client of Kubernetes is told so as by an API server; who asks below a path of
    `/api/v1` itself (`own`, their first names), or nearly, reads where to look.
    """

    scope = "read"
    schema = None
    own: frozenset[str] = frozenset()

    def get(self, request: Request, sandbox_id: str, rest: str) -> HttpResponse:
        """Refuse with a 404."""
        self.sandbox(sandbox_id)
        if difflib.get_close_matches(rest.partition("/")[0], self.own, 1, 0.8):
            raise NotFoundError(RequestProblem.NO_PAGE.said(path=request.path))
        return refusals.no_page()

    post = get


class CoreVersions(ClusterView):
    """GET /api."""

    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the versions of the core group."""
        self.sandbox(sandbox_id)
        if aggregated(request):
            return _list([_discovery("", ["v1"])])
        address = {"clientCIDR": "0.0.0.0/0", "serverAddress": request.get_host()}
        return Response(
            {
                "kind": "APIVersions",
                "versions": ["v1"],
                "serverAddressByClientCIDRs": [address],
            }
        )


class Groups(ClusterView):
    """GET /apis."""

    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return every named group."""
        self.sandbox(sandbox_id)
        found = {**resources.groups(), **_COMPUTED}
        if aggregated(request):
            return _list([_discovery(name, found[name]) for name in found])
        body = [_group(name, versions) for name, versions in found.items()]
        for group in body:
            del group["kind"]
        return Response({"kind": "APIGroupList", "apiVersion": "v1", "groups": body})


class OneGroup(ClusterView):
    """GET /apis/{group}."""

    def get(
        self, request: Request, sandbox_id: str, group: str
    ) -> Response | HttpResponse:
        """Return the versions of one group."""
        self.sandbox(sandbox_id)
        versions = {**resources.groups(), **_COMPUTED}.get(group)
        if versions is None:
            return refusals.no_page()
        if not versions:
            raise refusals.not_served()
        return Response({"apiVersion": "v1", **_group(group, versions)})


class Resources(ClusterView):
    """GET /api/v1 and /apis/{group}/{version}."""

    def get(
        self, request: Request, sandbox_id: str, version: str, group: str = ""
    ) -> Response | HttpResponse:
        """Return the resources of a group version."""
        self.sandbox(sandbox_id)
        if group and group not in {**resources.groups(), **_COMPUTED}:
            return refusals.no_page()
        found = resources.resources_of(group, version)
        if group == VISIBILITY and version in ("v1beta1", "v1beta2"):
            lines = _visibility_lines()
        elif (group, version) == (WHO, "v1"):
            lines = [_review_line("selfsubjectreviews", "SelfSubjectReview")]
        elif (group, version) == (access_reviews.GROUP, "v1"):
            lines = _review_lines()
        elif found:
            lines = [line for resource in found for line in _lines(resource)]
        elif group and not schemas.is_built_in(group):
            return refusals.no_page()
        else:
            raise refusals.not_served()
        said = {"apiVersion": "v1"} if group else {}
        return Response(
            {
                "kind": "APIResourceList",
                **said,
                "groupVersion": f"{group}/{version}" if group else version,
                "resources": lines,
            }
        )


def aggregated(request: Request) -> bool:
    """Return whether the client takes all of discovery in one answer."""
    accept = request.headers.get("Accept", "").replace(" ", "")
    return "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" in accept


def _list(items: list[dict[str, Any]]) -> Response:
    return Response(
        {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        },
        content_type=_AGGREGATED,
    )


def _group(name: str, versions: list[str]) -> dict[str, Any]:
    lines = [{"groupVersion": f"{name}/{v}", "version": v} for v in versions]
    return {
        "kind": "APIGroup",
        "name": name,
        "versions": lines,
        "preferredVersion": lines[0],
    }


def _discovery(group: str, versions: list[str]) -> dict[str, Any]:
    return {
        "metadata": {"name": group} if group else {},
        "versions": [
            {
                "version": version,
                "freshness": "Current",
                "resources": [
                    _discovered(resource)
                    for resource in resources.resources_of(group, version)
                ],
            }
            for version in versions
        ],
    }


def _discovered(resource: Resource) -> dict[str, Any]:
    kind = resource.kind
    return {
        "resource": kind.plural,
        "responseKind": {
            "group": kind.group,
            "version": resource.version,
            "kind": kind.kind,
        },
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.kind.lower(),
        "verbs": resource.verbs,
        "shortNames": resource.short_names,
        "categories": _categories(resource),
        "subresources": [
            {
                "subresource": part.name,
                "responseKind": {
                    "group": part.group,
                    "version": part.version,
                    "kind": part.kind,
                },
                "verbs": part.verbs,
            }
            for part in subresources.served(resource)
        ],
    }


def _categories(resource: Resource) -> list[str]:
    """Return ["all"] for what `kubectl get all` shows."""
    return ["all"] if resource.kind.kind in _OF_ALL else []


def _lines(resource: Resource) -> Iterator[dict[str, Any]]:
    """Yield the resource and its subresources."""
    kind = resource.kind
    yield _line(resource)
    for part in subresources.served(resource):
        line = {
            "name": f"{kind.plural}/{part.name}",
            "singularName": "",
            "namespaced": kind.namespaced,
            "kind": part.kind,
            "verbs": part.verbs,
        }
        if part.group != kind.group:
            line |= {"group": part.group, "version": part.version}
        yield line


def _line(resource: Resource) -> dict[str, Any]:
    kind = resource.kind
    line = {
        "name": kind.plural,
        "singularName": kind.kind.lower(),
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": resource.verbs,
    }
    if names := resource.short_names:
        line["shortNames"] = names
    if categories := _categories(resource):
        line["categories"] = categories
    return line


def _visibility_lines() -> list[dict[str, Any]]:
    return [
        {
            "name": f"{plural}/pendingworkloads",
            "singularName": "",
            "namespaced": namespaced,
            "kind": "PendingWorkloadsSummary",
            "verbs": ["get"],
        }
        for plural, namespaced in (("clusterqueues", False), ("localqueues", True))
    ]


def _review_lines() -> list[dict[str, Any]]:
    return [_review_line(*one) for one in access_reviews.KINDS.items()]


def _review_line(plural: str, kind: str) -> dict[str, Any]:
    return {
        "name": plural,
        "singularName": kind.lower(),
        "namespaced": False,
        "kind": kind,
        "verbs": ["create"],
    }
