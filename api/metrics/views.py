"""GET .../metrics of one sandbox, and /metrics of all that the asker may see."""

from __future__ import annotations

import logging

from django.db import DatabaseError
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from api.metrics import kueue, others
from api.metrics.exposition import CONTENT_TYPE, Exposition
from api.renderers import OneShape
from api.views.base import View
from sandbox.explain import counting
from sandbox.models import Sandbox
from sandbox.world import history

logger = logging.getLogger(__name__)

#: One scrape of everything shows this many, changed last.
MOST_SANDBOXES = 50


class SandboxMetrics(View):
    """The metrics of one sandbox."""

    content_negotiation_class = OneShape

    @extend_schema(
        operation_id="metrics_read", responses={(200, "text/plain"): OpenApiTypes.STR}
    )
    def get(self, request: Request, sandbox_id: str) -> HttpResponse:
        """Return Prometheus text, in simulated time."""
        out = Exposition()
        _add(out, self.sandbox(sandbox_id))
        return HttpResponse(out.text(), content_type=CONTENT_TYPE)


class AllMetrics(View):
    """The metrics of every sandbox that the asker may see."""

    content_negotiation_class = OneShape

    schema = None

    def get(self, request: Request) -> HttpResponse:
        """Return Prometheus text, each sample labelled with its sandbox.

        A sandbox that cannot be read is left out, and named.
        """
        out = Exposition()
        seen = Sandbox.objects.visible_to(self.user()).filter(archived_at=None)
        for sandbox in seen[:MOST_SANDBOXES]:
            own = Exposition()
            try:
                _add(own, sandbox)
            except DatabaseError:
                raise
            except Exception:  # one sandbox that cannot be read hides no other
                logger.exception("no metrics", extra={"sandbox": sandbox.pk})
                own = Exposition()
            name, help_ = (
                "quotalab_sandbox_left_out",
                "1 for a sandbox that cannot be read",
            )
            out.gauge(name, help_, own.is_empty(), sandbox=sandbox.pk)
            out.take(own)
        return HttpResponse(out.text(), content_type=CONTENT_TYPE)


def _add(out: Exposition, sandbox: Sandbox) -> None:
    page = history.page_at(sandbox, sandbox.revision)
    out = out.under(sandbox=sandbox.pk)
    others.add_own(out, sandbox, page)
    others.add_forecast(out, sandbox, page)
    if sandbox.stack == "kueue":
        kueue.add(out, page, counting.counts_of(sandbox, page))
    add = others.add_yunikorn if sandbox.stack == "yunikorn" else others.add_kube
    add(out, page, counting.pod_counts_of(sandbox, page))
