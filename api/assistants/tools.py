"""How tools are added, and that an argument which a tool does not have is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, InputRequiredResult, Tool, ToolAnnotations

from api.assistants.wording import plain
from scheduler.analysis.plan.assertions import nearest

F = TypeVar("F", bound=Callable[..., Any])


def adding(server: MCPServer[Any], *, reads: bool) -> Callable[[F], F]:
    """Return the decorator that adds a tool which only reads, or one that makes more."""
    hints = ToolAnnotations(
        read_only_hint=reads,
        destructive_hint=None if reads else False,
        idempotent_hint=True if reads else None,
        open_world_hint=False,
    )

    def add(fn: F) -> F:
        added: F = server.tool(annotations=hints, structured_output=False)(fn)
        return added

    return add


class ToolServer(MCPServer[Any]):
    """Refuses unknown arguments: one left out unseen makes another call than was meant.

    `dryrun` for `dry_run` would be an import.
    """

    async def list_tools(self) -> list[Tool]:
        """Return the tools, whose schemas allow no other arguments."""
        return [
            tool.model_copy(
                update={
                    "input_schema": {**tool.input_schema, "additionalProperties": False}
                }
            )
            for tool in await super().list_tools()
        ]

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any] | None = None,
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Raises ToolError for an argument that it does not have."""
        for tool in await self.list_tools():
            if tool.name == name:
                _expect_known(arguments, sorted(tool.input_schema["properties"]))
        return await super().call_tool(name, arguments, context)


def _expect_known(arguments: dict[str, Any], known: list[str]) -> None:
    for given in arguments:
        if given not in known:
            raise ToolError(
                f"unknown argument {plain(given, most=60)!r}{nearest(given[:60], known)}; "
                f"known: {', '.join(known)}"
            )
