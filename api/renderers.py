"""Bodies: JSON and YAML, in and out."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

from django.http import HttpResponse
from rest_framework.exceptions import ParseError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser, JSONParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from api.errors import coded
from scheduler.model.problems import RequestProblem
from scheduler.model.texts.plain_text import is_suspect, unstorable, write, write_all

YAML = "application/yaml"


def dump(document: Any) -> str:
    """Return YAML in the order of the document, several for a list of them."""
    return write(document)


def dump_all(documents: list[Any]) -> str:
    """Return several documents."""
    return write_all(documents)


class OneShape(DefaultContentNegotiation):
    """For what comes in one shape only, whatever a client says that it accepts."""

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """Return the first renderer: refusals are written with it."""
        first = next(iter(renderers))
        return first, first.media_type or ""


class YAMLRenderer(BaseRenderer):
    """Answers in YAML for `Accept: application/yaml` or `?format=yaml`."""

    media_type = YAML
    format = "yaml"
    charset = "utf-8"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return the document as YAML."""
        return b"" if data is None else dump(_plain(data)).encode()


class YAMLManyRenderer(YAMLRenderer):
    """The `documents` of an answer as one YAML stream; anything else as it is."""

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return the documents, each after a line of three dashes."""
        if not isinstance(data, Mapping) or "documents" not in data:
            return super().render(data, accepted_media_type, renderer_context)
        return dump_all([_plain(document) for document in data["documents"]]).encode()


def _plain(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {str(name): _plain(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return data if isinstance(data, str | int | float | bool | None) else str(data)


class StorableJSONParser(JSONParser):
    """JSON whose texts can be stored; a NUL or half a surrogate pair is a 400."""

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the body as plain values."""
        body = stream.read()
        try:
            found = super().parse(io.BytesIO(body), media_type, parser_context)
        except UnicodeDecodeError as error:
            raise ParseError(coded(RequestProblem.UTF8.said(problem=error))) from error
        refuse_unstorable(body, found)
        return found


def refuse_unstorable(body: bytes, found: Any) -> None:
    """Raise ParseError with the place of text that no database can hold."""
    if not is_suspect(body):
        return
    place = next(unstorable(found), None)
    if place is not None:
        raise ParseError(coded(RequestProblem.SUSPECT.said(given=f"{place[:100]!a}")))


class YAMLTextParser(BaseParser):
    """A YAML body as one file: `{"files": [{"name": "body", "text": ...}]}`.

    It is read by the importer, which knows lines and limits.
    """

    media_type = YAML

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the body as the one file of an import."""
        try:
            text = stream.read().decode("utf-8")
        except UnicodeDecodeError as error:
            raise ParseError(coded(RequestProblem.UTF8.said(problem=error))) from error
        return {"files": [{"name": "body.yaml", "text": text}]}


def saved(name: str, content: Any, kind: str) -> HttpResponse:
    """Answer with a file, which a browser saves under this name."""
    as_file = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=kind, headers=as_file)
