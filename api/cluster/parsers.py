"""Bodies of writes: objects in JSON or YAML, and the four kinds of patch."""

from __future__ import annotations

import io
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from api.cluster import json_words, refusals, resources
from api.cluster.protobuf import ProtobufParser
from api.renderers import StorableJSONParser, refuse_unstorable
from sandbox.access.limits import of_texts
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
        self, stream: Any, media_type: str | None = None, parser_context: Any = None
    ) -> dict[str, Any]:
        """Return the document. Raises ParseError naming the line."""
        body = stream.read()
        try:
            found = read_documents(body.decode("utf-8"), file="body", limits=of_texts())
        except (UnicodeDecodeError, ManifestError) as error:
            raise self.refusal(error) from error
        if len(found) != 1:
            raise ParseError(f"expected one object, got {len(found)}")
        refuse_unstorable(body, found[0].data)
        return found[0].data

    def refusal(self, error: Exception) -> Exception:
        """Return what is answered to what is no YAML."""
        return ParseError(str(error))


class _GoJSONParser(StorableJSONParser):
    """JSON whose faults are said as Go's decoder says them."""

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Any = None
    ) -> Any:
        """Return the value. Raises `refusal` for what is no JSON, else ParseError."""
        body = stream.read()
        try:
            return self.taken(super().parse(io.BytesIO(body)), body, parser_context)
        except RecursionError as error:
            context = parser_context or {}
            raise self.refusal(json_words.TOO_DEEP, body, context) from error
        except ParseError as error:
            if problem := json_words.problem_of(body):
                raise self.refusal(problem, body, parser_context or {}) from error
            raise

    def taken(self, found: Any, body: bytes, context: Any) -> Any:
        """Return what is made of the value of a body."""
        del body, context
        return found

    def refusal(
        self, problem: str, body: bytes, context: dict[str, Any]
    ) -> refusals.RefusalError:
        """Return what is answered to what is no JSON."""
        raise NotImplementedError


class JSONObjectParser(_GoJSONParser):
    """One object in JSON; the request notes which of its fields were given twice."""

    def taken(self, found: Any, body: bytes, context: Any) -> Any:
        """Return the object, {} for none."""
        if body and found is not None and not isinstance(found, dict):
            problem = f"json: cannot unmarshal {json_words.type_of(found)} into {_HEAD}"
            raise refusals.unrecognized(_kind_of(context or {}), problem, body)
        if (request := (context or {}).get("request")) is not None:
            request.given_twice = json_words.duplicates(body) if found else []
        return found or {}

    def refusal(
        self, problem: str, body: bytes, context: dict[str, Any]
    ) -> refusals.RefusalError:
        """Return it for the kind of the path; of a DELETE for its options."""
        request = context.get("request")
        if request is not None and request.method == "DELETE":
            why = f"couldn't get version/kind; json parse error: {problem}"
            return refusals.bad_request(why)
        return refusals.unrecognized(_kind_of(context), problem, body)


#: What a decoder reads first of an object.
_HEAD = (
    r'Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; '
    r'Kind string "json:\"kind,omitempty\"" }'
)


def _kind_of(context: dict[str, Any]) -> str:
    """Return the kind of the objects at the path of a request."""
    places = context.get("kwargs") or {}
    found = resources.find(
        places.get("group", ""), places.get("version", ""), places.get("plural", "")
    )
    return found.kind.kind


class _Patch(_GoJSONParser):
    """A patch in JSON."""

    def refusal(
        self, problem: str, body: bytes, context: dict[str, Any]
    ) -> refusals.RefusalError:
        """Return the refusal of a body that is no patch."""
        del body, context
        return refusals.bad_request(f"error decoding patch: {problem}")


class MergePatch(_Patch):
    """A JSON merge patch (RFC 7386): the fields that change."""

    media_type = MERGE


class StrategicMergePatch(_Patch):
    """Kubernetes' merge patch that knows how lists are keyed."""

    media_type = STRATEGIC


class JSONPatch(_Patch):
    """A JSON patch (RFC 6902): a list of operations on places."""

    media_type = JSON


class ApplyPatch(YAMLObjectParser):
    """Server-side apply: what one manager wants of an object."""

    media_type = APPLY

    def refusal(self, error: Exception) -> Exception:
        """Return the same, as the decoder of an API server says it."""
        place, _, why = str(error).partition(": not YAML: ")
        line = place.rpartition(":")[2]
        said = f"yaml: line {max(int(line) - 1, 1)}: {why}" if why else str(error)
        text = f"error decoding YAML: error converting YAML to JSON: {said}"
        return refusals.bad_request(text)


OBJECTS = (JSONObjectParser, YAMLObjectParser, ProtobufParser)
PATCHES = (JSONPatch, MergePatch, StrategicMergePatch, ApplyPatch)
