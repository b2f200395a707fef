"""What the cluster's views share: what is answered in which encoding, and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from api.cluster import refusals
from api.cluster.protobuf import MEDIA as PROTOBUF
from api.cluster.protobuf import ProtobufRenderer
from api.renderers import YAML, YAMLRenderer
from api.views.base import View
from scheduler.model import schemas

JSON = "application/json"
_ANY = frozenset({JSON, "application/*", "*/*"})


class FastJSONRenderer(JSONRenderer):
    """JSON in a tenth of the time: a list of a big cluster is many megabytes."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Any = None,
    ) -> bytes:
        """Return the document, compact, in its own order."""
        return b"" if data is None else msgspec.json.encode(data, enc_hook=str)


class Accepted(NamedTuple):
    """One answer that a client takes: its encoding, and the kind it is turned into."""

    media: str
    turned: str = ""  # Table, PartialObjectMetadata, PartialObjectMetadataList


def accepted(request: Request) -> Iterator[Accepted]:
    """Yield what a request takes, in its order, of what is answered here."""
    header = request.headers.get("Accept", "").replace(" ", "") or JSON
    for clause in header.split(","):
        media, *options = clause.split(";")
        given = dict(option.partition("=")[::2] for option in options)
        turned = given.get("as", "")
        if turned and (given.get("g"), given.get("v")) != ("meta.k8s.io", "v1"):
            if turned != "APIGroupDiscoveryList":
                continue
            turned = ""
        if media in _ANY:
            yield Accepted(JSON, turned)
        elif media == YAML:
            yield Accepted(YAML, turned)
        elif media == PROTOBUF and not turned:
            yield Accepted(PROTOBUF)


def turned_into(request: Request) -> str:
    """Return the kind that an object or a list is turned into; "" is its own."""
    found = next(accepted(request), None)
    return found.turned if found else ""


class Encodings(BaseContentNegotiation):
    """What an API server reads and writes, by the kind of resource that is asked for."""

    def select_parser(
        self, request: Request, parsers: Iterable[BaseParser]
    ) -> BaseParser | None:
        """Return the parser of this content type; JSON when none is named.

        Raises RefusalError with what to send instead.
        """
        given = (request.content_type or JSON).partition(";")[0].strip()
        known = {parser.media_type: parser for parser in parsers}
        built_in = _is_built_in(request)
        if request.method == "PATCH":
            patches = [m for m in known if m and "patch" in m]
            if not built_in:
                patches = [m for m in patches if "strategic" not in m]
            if given in patches:
                return known[given]
            if built_in:
                raise refusals.unsupported_media()
            raise refusals.unknown_format(*patches)
        objects = [m for m in known if m and "patch" not in m]
        if not built_in and request.method != "DELETE":
            objects = [m for m in objects if m != PROTOBUF]
        if given not in objects:
            raise refusals.unknown_format(*objects)
        return known[given]

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """Return JSON or YAML, whichever is asked for first; protobuf where it is alone.

        Raises RefusalError for who reads none of them.
        """
        if request.query_params.get("output") == "yaml":
            return YAMLRenderer(), YAML
        medias = [one.media for one in accepted(request)]
        plain = [media for media in medias if media != PROTOBUF]
        if plain:
            return (
                (YAMLRenderer(), YAML)
                if plain[0] == YAML
                else (FastJSONRenderer(), JSON)
            )
        if medias and _is_built_in(request):
            return ProtobufRenderer(), PROTOBUF
        known = [JSON, YAML, *([PROTOBUF] if _is_built_in(request) else [])]
        message = (
            f"406: Not Acceptable\n\nAvailable representations: {', '.join(known)}"
        )
        raise refusals.RefusalError(406, "NotAcceptable", message, {})


def _is_built_in(request: Request) -> bool:
    kwargs = (request.parser_context or {}).get("kwargs") or {}
    return schemas.is_built_in(kwargs.get("group", ""))


class ClusterView(View):
    """A view of the cluster that a sandbox is."""

    content_negotiation_class: Any = Encodings
    http_method_names: Any = ("get", "post", "put", "patch", "delete")
    schema: Any = None  # the shape is Kubernetes' own, and found by discovery

    def initialize_request(self, request: Any, *args: Any, **kwargs: Any) -> Request:
        """Read a body whose length is not said before, as `kubectl --raw` sends it."""
        if "chunked" in request.headers.get("Transfer-Encoding", ""):
            request.META["CONTENT_LENGTH"] = str(len(request.body))
        return super().initialize_request(request, *args, **kwargs)

    def get_exception_handler(self) -> Callable[..., Any]:
        """Return what answers errors: with a Status as API servers write it."""
        return refusals.answer
