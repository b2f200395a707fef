"""What the cluster's views share: any Accept is answered, in JSON or YAML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from api.renderers import YAML, YAMLRenderer
from api.views.base import View


class JSONUnlessYAML(BaseContentNegotiation):
    """Kubernetes clients name encodings that only they know; all of them read JSON."""

    def select_parser(
        self, request: Request, parsers: Iterable[BaseParser]
    ) -> BaseParser | None:
        """Return the parser of this content type; JSON when none is named."""
        given = (request.content_type or "application/json").partition(";")[0].strip()
        found = [parser for parser in parsers if parser.media_type == given]
        return found[0] if found else None

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """Return YAML for who asks for it before JSON, else JSON."""
        first = request.headers.get("Accept", "").partition(",")[0].partition(";")[0]
        wanted = first.strip() == YAML or request.query_params.get("output") == "yaml"
        if wanted:
            return YAMLRenderer(), YAML
        return JSONRenderer(), "application/json"


class ClusterView(View):
    """A view of the cluster that a sandbox is."""

    content_negotiation_class: Any = JSONUnlessYAML
    schema: Any = None  # the shape is Kubernetes' own, and found by discovery
