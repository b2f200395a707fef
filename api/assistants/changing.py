"""Tools that change something: only there when whoever started the command allows it."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from api.assistants import fields
from api.assistants.asking import Asker, Upstream, refusals
from api.assistants.tools import adding
from api.assistants.wording import answer, plain, span
from api.client import Client
from api.command.reports import lines_of

_NOWHERE = "-"  # the namespace of what is cluster-wide, in paths


class ChangingTools:
    """Tools that make or change something, for one server."""

    def __init__(self, up: Upstream) -> None:
        self.up = up

    def open_scenario(
        self, context: Asker, scenario: fields.Title, title: fields.Title = ""
    ) -> str:
        """Make a sandbox of a scenario of the library; paused at tick 0."""
        with refusals():
            made: Any = self.up.client(context).create(scenario=scenario, title=title)
        return _made(self.up, made["id"], "made")

    def import_files(
        self,
        context: Asker,
        files: fields.Files,
        title: fields.Title = "",
        into: fields.MaybeSandboxId = "",
        dry_run: bool = False,
    ) -> str:
        """Import manifests or traces into a new sandbox, or into one that is there.

        All of them are taken or, on any error, none. `dry_run` needs `into`.
        """
        if dry_run and not into:
            raise ToolError("dry_run needs into: a new sandbox has nothing before")
        listed = [one.model_dump() for one in files]
        with refusals():
            operations = self.up.client(context).operations
            if into:
                more: Any = {"files": listed, "dryRun": dry_run}
                found: Any = operations.import_files(into, more)
            else:
                body: Any = {"files": listed, "title": title}
                found = operations.sandboxes_create(body)
        key = into or found["id"]
        lines = [plain(line, most=400) for line in lines_of(found["report"])]
        word = "would be imported into" if dry_run else "imported into"
        return answer([f"{word} sandbox {key}", *lines[:40]], self.up.link(key))

    def fork(
        self,
        context: Asker,
        sandbox: fields.SandboxId,
        tick: fields.Tick = None,
        title: fields.Title = "",
    ) -> str:
        """Make another sandbox that goes on from a tick of this one."""
        with refusals():
            key = _fork(self.up.client(context), sandbox, tick, title)
        return _made(self.up, key, f"forked from {sandbox}")

    def run_in_fork(
        self,
        context: Asker,
        sandbox: fields.SandboxId,
        ticks: fields.Ticks,
        edits: fields.MaybeEdits = None,
        tick: fields.Tick = None,
        title: fields.Title = "",
    ) -> str:
        """Fork a sandbox, lay merge patches over objects of the fork, and make ticks.

        The sandbox itself stays as it is. `compare` shows what the fork did else.
        """
        with refusals():
            client = self.up.client(context)
            key = _fork(client, sandbox, tick, title)
            for edit in edits or ():
                _patch(client, key, edit)
            found: Any = client.step(key, ticks)
        lines = [
            f"fork {key} of {sandbox} is at tick {found['tick']} ({span(found['tMs'])})"
        ]
        if found["problem"]:
            lines.append(f"it stopped: {plain(found['problem'], most=400)}")
        return answer(lines, self.up.link(key))


def add_changing(server: MCPServer[Any], up: Upstream) -> None:
    """Add them to a server, by their names here."""
    tool, tools = adding(server, reads=False), ChangingTools(up)
    for add in (tools.open_scenario, tools.import_files, tools.fork, tools.run_in_fork):
        tool(add)


def _fork(client: Client, sandbox: str, tick: int | None, title: str) -> str:
    body: Any = {"tick": tick, **({"title": title} if title else {})}
    return str(client.operations.fork(sandbox, body)["id"])


def _patch(client: Client, key: str, edit: fields.Edit) -> None:
    if edit.kind == "Policy":
        client.patch_policy(key, edit.patch)
        return
    place = edit.namespace or _NOWHERE
    client.operations.objects_patch(key, edit.kind, place, edit.name, edit.patch)


def _made(up: Upstream, key: str, word: str) -> str:
    return answer([f"sandbox {key}, {word}"], up.link(key))
