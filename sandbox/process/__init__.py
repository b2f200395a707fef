"""The processes of an installation: Celery, the bus, who has something to do."""

from __future__ import annotations
