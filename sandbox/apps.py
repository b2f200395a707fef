"""The Django app: what must be loaded before the first request or task."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from sandbox.world.webhooks import Allowed
from scheduler.engine.worlds.objects import Room


class SandboxConfig(AppConfig):
    """Rows, actions and live updates of the sandboxes."""

    name = __name__.rpartition(".")[0]
    verbose_name = "Sandbox"

    def ready(self) -> None:
        """Make the Celery app current, so that shared tasks find it; bound worlds."""
        import_module("sandbox.process.celery")
        Room.most = settings.LIMITS["objects_per_sandbox"]
        try:
            Allowed(settings.EXTENDERS)
        except ValueError as error:
            raise ImproperlyConfigured(str(error)) from error
