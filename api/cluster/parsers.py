"""Bodies of writes: objects in JSON or YAML, and the four kinds of patch."""

from __future__ import annotations

import io
import json
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from api.cluster import refusals
from api.cluster.protobuf import ProtobufParser
from api.renderers import StorableJSONParser, refuse_unstorable
from sandbox.live.limits import of_texts
from scheduler.input.manifests.documents import read_documents
from scheduler.model.errors import ManifestError

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


class YAMLObjectParser(BaseParser):
    """One YAML document as plain data, under the importer's limits."""

    media_type = "application/yaml"

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Any = None,
    ) -> dict[str, Any]:
        """Return the document. Raises ParseError naming the line."""
        body = stream.read()
        try:
            found = read_documents(body.decode("utf-8"), file="body", limits=of_texts())
        except (UnicodeDecodeError, ManifestError) as error:
            raise ParseError(str(error)) from error
        if len(found) != 1:
            raise ParseError(f"expected one object, got {len(found)}")
        refuse_unstorable(body, found[0].data)
        return found[0].data


class _Patch(StorableJSONParser):
    """A patch in JSON; what is none is said as an API server says it."""

    def parse(
        self,
        stream: Any,
        media_type: str | None = None,
        parser_context: Any = None,
    ) -> Any:
        """Return the patch. Raises RefusalError for what is no JSON."""
        body = stream.read()
        try:
            return super().parse(io.BytesIO(body), media_type, parser_context)
        except ParseError as error:
            try:
                json.loads(body)
            except ValueError as cause:
                cut = body.strip() in (b"", b"{", b"[")
                why = (
                    "unexpected end of JSON input" if cut else f"invalid JSON: {cause}"
                )
                raise refusals.bad_request(f"error decoding patch: {why}") from error
            raise


class MergePatch(_Patch):
    """RFC 7386."""

    media_type = MERGE


class StrategicMergePatch(_Patch):
    """Kubernetes' merge patch that knows how lists are keyed."""

    media_type = STRATEGIC


class JSONPatch(_Patch):
    """RFC 6902."""

    media_type = JSON


class ApplyPatch(YAMLObjectParser):
    """Server-side apply; one manager, so it is a merge."""

    media_type = APPLY


OBJECTS = (StorableJSONParser, YAMLObjectParser, ProtobufParser)
PATCHES = (JSONPatch, MergePatch, StrategicMergePatch, ApplyPatch)
