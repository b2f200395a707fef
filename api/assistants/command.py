"""The command `mcp`: for assistants, on standard input and output or over HTTP."""

from __future__ import annotations

import argparse
import os
import sys
import urllib.parse
from collections.abc import Sequence
from typing import Any

import uvicorn
from mcp.server import MCPServer

from api.assistants.asking import Upstream
from api.assistants.server import PATH, application, build, is_loopback
from api.command.parser import version
from scheduler.model.amounts import is_whole

#: Connections that wait to be accepted.
_BACKLOG = 128
_HERE = "http://127.0.0.1:8000"


def main(words: Sequence[str]) -> int:
    """Serve until the client goes or Ctrl-C; 2 for wrong words."""
    parser = _parser()
    given = parser.parse_args(words)
    url = urllib.parse.urlsplit(given.server)
    if url.scheme not in ("http", "https") or not url.netloc:
        parser.error(
            f"--server: expected http://... or https://..., got {given.server!r}"
        )
    if given.http and given.token_given:
        parser.error("--token: over HTTP each client sends a token of its own")
    up = Upstream(
        url=given.server.rstrip("/"),
        token=given.token_given or os.environ.get("QUOTALAB_TOKEN", ""),
        changes=given.allow_changes,
    )
    server = build(up, version())
    if not given.http:
        server.run("stdio")
        return 0
    try:
        host, port = _address(given.http)
    except ValueError as error:
        parser.error(str(error))
    return _serve(server, up, host, port)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "quotalab mcp",
        description="Offer a Quotalab server to assistants by the Model Context "
        "Protocol: on standard input and output, or over streamable HTTP. It has the "
        "rights of the token, and changes nothing unless that is allowed.",
        epilog="docs/mcp.md has the configuration of clients.",
    )
    parser.add_argument(
        "--server",
        metavar="URL",
        default=os.environ.get("QUOTALAB_SERVER") or _HERE,
        help=f"the Quotalab server to ask ({_HERE}, or QUOTALAB_SERVER)",
    )
    parser.add_argument(
        "--token",
        dest="token_given",
        default="",
        help="an API token; better in QUOTALAB_TOKEN, where no process list shows it",
    )
    parser.add_argument(
        "--http",
        metavar="[HOST:]PORT",
        help=f"listen here instead, at {PATH}; each request brings its own token",
    )
    parser.add_argument(
        "--allow-changes",
        action="store_true",
        help="offer tools that import, open, fork and run forks",
    )
    return parser


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    host = host.strip("[]") if colon else "127.0.0.1"
    if not is_whole(port) or int(port) > 65_535 or not host:
        raise ValueError(f"--http: expected PORT or HOST:PORT, got {text!r}")
    return host, int(port)


def _serve(server: MCPServer[Any], up: Upstream, host: str, port: int) -> int:
    config = uvicorn.Config(
        application(server, up, host), host=host, port=port, log_level="warning"
    )
    socket = config.bind_socket()
    socket.listen(_BACKLOG)  # who reads READY may connect at once
    name = f"[{host}]" if ":" in host else host
    where = f"http://{name}:{socket.getsockname()[1]}{PATH}"
    word = "" if is_loopback(host) else "; every request needs a token"
    sys.stderr.write(f"READY {where}{word}\n")
    sys.stderr.flush()
    uvicorn.Server(config).run(sockets=[socket])
    return 0
