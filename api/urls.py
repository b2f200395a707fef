"""The root of all routes."""

from __future__ import annotations

from django.urls import include, path, re_path

from api import health
from api.page import page

urlpatterns = [
    path("healthz", health.alive),
    path("readyz", health.ready),
    path("api/v1/", include("api.v1")),
    path("", page, name="page"),
    re_path(r"^(?:s|lessons|experiments|compare|scenarios)(?:/.*)?$", page),
]
