"""The root of all routes."""

from __future__ import annotations

from django.urls import include, path, re_path

from api import health
from api.metrics.service import ServiceMetrics
from api.metrics.views import AllMetrics
from api.openid import back, go
from api.page import embedded, page
from api.service import service
from api.signing import sign_in, sign_out
from api.views.base import Unknown

urlpatterns = [
    path("healthz", health.alive),
    path("readyz", health.ready),
    path("metrics", AllMetrics.as_view(), name="metrics"),
    path("metrics/service", ServiceMetrics.as_view(), name="service-metrics"),
    path("service", service, name="service"),
    path("api/v1/", include("api.v1")),
    re_path(r"^api(?:/[\s\S]*)?\Z", Unknown.as_view()),
    path("sign-in", sign_in, name="sign-in"),
    path("sign-in/provider", go, name="provider"),
    path("sign-in/provider/back", back, name="provider-back"),
    path("sign-out", sign_out, name="sign-out"),
    path("embed", embedded, name="embed"),
    path("share", page, {"signed_in": False}, name="share-page"),
    path("", page, name="page"),
    re_path(
        r"^(?:s|join|account|lessons|experiments|compare|scenarios)(?:/.*)?$", page
    ),
]

handler500 = "api.errors.defect"
