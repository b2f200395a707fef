"""Resources: the documents of this project, and the schemas of what goes in and out."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from api.assistants.asking import Asker, Upstream
from api.client import ApiError
from scheduler.analysis.experiments.document import ExperimentDocument
from scheduler.model.policy import PolicySpec
from scheduler.model.scenario import Scenario

_FOLDER = Path(__file__).parent / "docs"
#: Documents of our own, from the code that reads them.
_DOCUMENTS: dict[str, type] = {
    "Experiment": ExperimentDocument,
    "PolicySpec": PolicySpec,
    "Scenario": Scenario,
}
_MOST_TEXT = 200_000


@lru_cache(maxsize=1)
def documents() -> dict[str, Path]:
    """Return the documents of this project by name."""
    found = sorted(_FOLDER.glob("*.md"))
    return {path.stem: path for path in found if path.is_file()}


def add_resources(server: MCPServer[Any], up: Upstream) -> None:
    """Add them to a server. A name is looked up, and never part of a path."""

    @server.resource("quotalab://docs", mime_type="text/plain")
    def docs() -> str:
        """Name the documents, each a resource quotalab://docs/NAME."""
        return "".join(f"quotalab://docs/{name}\n" for name in documents())

    @server.resource("quotalab://docs/{name}", mime_type="text/markdown")
    def doc(name: str) -> str:
        """Return one document in Markdown."""
        path = documents().get(name)
        if path is None:
            raise ResourceNotFoundError("no such document; quotalab://docs names them")
        return path.read_text(encoding="utf-8")[:_MOST_TEXT]

    @server.resource("quotalab://schemas", mime_type="text/plain")
    def schemas() -> str:
        """Name the schemas of documents that are written by hand."""
        names = "".join(f"quotalab://schemas/{name}\n" for name in _DOCUMENTS)
        return f"{names}and every component of {up.url}/api/v1/schema by its name\n"

    @server.resource("quotalab://schemas/{name}", mime_type="application/schema+json")
    def schema(name: str, context: Asker) -> str:
        """Return one schema: of a document, or of an answer of the REST API."""
        if name in _DOCUMENTS:
            return json.dumps(msgspec.json.schema(_DOCUMENTS[name]))
        found = _components(lambda: _openapi(up, context)).get(name)
        if found is None:
            raise ResourceNotFoundError("no such schema; quotalab://schemas names some")
        return json.dumps(found)[:_MOST_TEXT]


def _openapi(up: Upstream, context: Asker) -> Any:
    operations = up.client(context).operations
    try:
        return operations.send("GET", "/schema?format=json")
    except (ApiError, OSError) as error:
        problem = "the schema of the REST API could not be read"
        raise ResourceError(problem) from error


def _components(read: Callable[[], Any]) -> dict[str, Any]:
    found = read()
    if not isinstance(found, dict):
        return {}
    components: dict[str, Any] = found.get("components", {}).get("schemas", {})
    return components
