"""What the cluster's views share: answers in JSON or YAML, and no other encoding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rest_framework.exceptions import NotAcceptable, UnsupportedMediaType
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from api.renderers import YAML, YAMLRenderer
from api.views.base import View

_JSON = "application/json"
_ANSWERED = frozenset({_JSON, YAML, "application/*", "*/*"})


class JSONUnlessYAML(BaseContentNegotiation):
    """Kubernetes clients name encodings that only they know; most read JSON as well."""

    def select_parser(
        self, request: Request, parsers: Iterable[BaseParser]
    ) -> BaseParser | None:
        """Return the parser of this content type; JSON when none is named.

        Raises UnsupportedMediaType with what to send instead.
        """
        given = (request.content_type or "application/json").partition(";")[0].strip()
        found = [parser for parser in parsers if parser.media_type == given]
        if not found:
            known = ", ".join(parser.media_type or "" for parser in parsers)
            raise UnsupportedMediaType(
                given,
                f"a body in {given[:100]!a} is not read here, only {known}; with "
                "kubectl write the object to a file (--dry-run=client -o yaml) and "
                "apply that",
            )
        return found[0]

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """Return YAML for who asks for it before JSON, else JSON.

        Raises NotAcceptable for who reads neither.
        """
        accept = request.headers.get("Accept", "").strip()
        named = [part.partition(";")[0].strip() for part in accept.split(",")]
        if accept and not _ANSWERED.intersection(named):
            raise NotAcceptable(
                f"answers are written in JSON and YAML only, Accept is {accept[:200]!a}"
                f"; add {_JSON} to it (kubectl before 1.27 reads OpenAPI in protobuf "
                "only: use --validate=false or a newer one)"
            )
        if named[0] == YAML or request.query_params.get("output") == "yaml":
            return YAMLRenderer(), YAML
        return JSONRenderer(), _JSON


class ClusterView(View):
    """A view of the cluster that a sandbox is."""

    content_negotiation_class: Any = JSONUnlessYAML
    schema: Any = None  # the shape is Kubernetes' own, and found by discovery
