"""The root of all routes."""

from __future__ import annotations

from django.urls import path

from api import health

urlpatterns = [
    path("healthz", health.alive),
    path("readyz", health.ready),
]
