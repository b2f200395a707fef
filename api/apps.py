"""The Django app of the API: templates, styles and commands; it has no rows."""

from __future__ import annotations

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """Requests, answers and their schema."""

    name = __name__.rpartition(".")[0]
    verbose_name = "API"
