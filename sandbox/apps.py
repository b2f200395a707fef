"""The Django app: what must be loaded before the first request or task."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig


class SandboxConfig(AppConfig):
    """Rows, actions and live updates of the sandboxes."""

    name = "sandbox"
    verbose_name = "Sandbox"

    def ready(self) -> None:
        """Make the Celery app current, so that shared tasks find it."""
        import_module("sandbox.celery")
