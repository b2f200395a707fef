"""The paths of the cluster, below `sandboxes/{id}/`."""

from __future__ import annotations

from django.urls import path

from api.cluster import discovery
from api.cluster.access_reviews import AccessReview, RulesReview, WhoAmI
from api.cluster.objects import Collection, Finalize, Nothing, OneObject, Status
from api.cluster.openapi import documents as openapi
from api.cluster.subresources import (
    INSIDE,
    Binding,
    EphemeralContainers,
    Eviction,
    Inside,
    Log,
    Scale,
)
from api.cluster.visibility import ClusterQueuePending, LocalQueuePending
from api.cluster.yunikorn import paths as yunikorn

_PROBED = ("healthz", "livez", "readyz")
_VISIBILITY = "apis/visibility.kueue.x-k8s.io/<str:version>"
_AUTHORIZATION = "apis/authorization.k8s.io/v1"
_POD = "api/v1/namespaces/<str:namespace>/pods/<str:name>"

_objects = [
    path(f"{root}/{tail}", view.as_view())
    for root in ("api/<str:version>", "apis/<str:group>/<str:version>")
    for tail, view in (
        ("namespaces/<str:namespace>/<str:plural>", Collection),
        ("namespaces/<str:namespace>/<str:plural>/<str:name>", OneObject),
        ("namespaces/<str:namespace>/<str:plural>/<str:name>/status", Status),
        ("<str:plural>", Collection),
        ("<str:plural>/<str:name>", OneObject),
        ("<str:plural>/<str:name>/status", Status),
    )
]

urlpatterns = [
    path("", discovery.Paths.as_view()),
    *(path(name, discovery.Alive.as_view()) for name in _PROBED),
    path("version", discovery.Version.as_view()),
    path("openapi/v2", openapi.Version2.as_view()),
    path("openapi/v3", openapi.Index.as_view()),
    path("openapi/v3/api/<str:version>", openapi.OfGroupVersion.as_view()),
    path("openapi/v3/apis/<str:group>/<str:version>", openapi.OfGroupVersion.as_view()),
    path("api", discovery.CoreVersions.as_view()),
    path("apis", discovery.Groups.as_view()),
    path("api/<str:version>", discovery.Resources.as_view()),
    path("apis/<str:group>", discovery.OneGroup.as_view()),
    path("apis/<str:group>/<str:version>", discovery.Resources.as_view()),
    path(
        f"{_VISIBILITY}/clusterqueues/<str:name>/pendingworkloads",
        ClusterQueuePending.as_view(),
    ),
    path(
        f"{_VISIBILITY}/namespaces/<str:namespace>/localqueues/<str:name>"
        "/pendingworkloads",
        LocalQueuePending.as_view(),
    ),
    path("apis/authentication.k8s.io/v1/selfsubjectreviews", WhoAmI.as_view()),
    path(f"{_AUTHORIZATION}/selfsubjectaccessreviews", AccessReview.as_view()),
    path(f"{_AUTHORIZATION}/selfsubjectrulesreviews", RulesReview.as_view()),
    path(f"{_POD}/log", Log.as_view()),
    path(f"{_POD}/eviction", Eviction.as_view()),
    path(f"{_POD}/binding", Binding.as_view()),
    path(
        f"{_POD}/ephemeralcontainers",
        EphemeralContainers.as_view(),
        {"version": "v1", "plural": "pods"},
    ),
    *(path(f"{_POD}/{name}", Inside.as_view()) for name in INSIDE),
    path(
        "apis/<str:group>/<str:version>/namespaces/<str:namespace>/<str:plural>"
        "/<str:name>/scale",
        Scale.as_view(),
    ),
    path(
        "api/<str:version>/namespaces/<str:name>/status",
        Status.as_view(),
        {"plural": "namespaces"},
    ),
    path("api/<str:version>/namespaces/<str:name>/finalize", Finalize.as_view()),
    *_objects,
    *(
        path(f"{root}/{tail}", Nothing.as_view())
        for root in ("api/<str:version>", "apis/<str:group>/<str:version>")
        for tail in (
            "namespaces/<str:namespace>/<str:plural>/<str:name>/<path:rest>",
            "<str:plural>/<str:name>/<path:rest>",
        )
    ),
    *yunikorn.urlpatterns,
]
