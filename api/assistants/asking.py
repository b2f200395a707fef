"""Who asks the REST API for an assistant: with the caller's own token, nobody else's."""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from api.assistants.wording import plain
from api.client import ApiError, Client, StoppedError
from api.client.sending import Transport

#: Explanations and forecasts of large worlds take their time.
TIMEOUT_S = 180.0
#: How long it stays known that a token is one of the server's.
_KNOWN_S = 30.0
_MOST_KNOWN = 1_000
_MOST_CAUSES = 5

Asker = Context[Any, Any]


@dataclass(slots=True, kw_only=True)
class Upstream:
    """The server that is asked, and how a caller is known to it.

    `token` is that of standard input and output; over HTTP each request brings its
    own and `token` is not used. `changes` lets tools change anything at all.
    """

    url: str
    token: str = ""
    changes: bool = False
    clock: Callable[[], float] = time.monotonic
    transport: Transport | None = None
    known: dict[str, float] = field(default_factory=dict)

    def client(self, context: Asker) -> Client:
        """Return a client with the rights of whoever made this request."""
        return self.client_of(self._token(context))

    def client_of(self, token: str) -> Client:
        """Return a client with a token, or without one for ""."""
        return Client(
            self.url, token=token, timeout_s=TIMEOUT_S, transport=self.transport
        )

    def _token(self, context: Asker) -> str:
        request = context.request_context.request
        if request is None:
            return self.token
        return bearer_of(request.headers.get("authorization", ""))

    def accepts(self, token: str) -> bool:
        """Return whether the server knows this token (or, for "", needs none).

        Raises ApiError for another refusal, and OSError when nobody answers.
        """
        now = self.clock()
        if self.known.get(token, 0.0) > now:
            return True
        try:
            self.client_of(token).operations.me_read()
        except ApiError as error:
            if error.code in (401, 403):
                self.known.pop(token, None)
                return False
            raise
        if len(self.known) >= _MOST_KNOWN:
            self.known.clear()
        self.known[token] = now + _KNOWN_S
        return True

    def link(self, sandbox: str, selected: str = "", view: str = "board") -> str:
        """Return the page's address of a sandbox, or of an object in it."""
        query = f"?{urllib.parse.urlencode({'sel': selected})}" if selected else ""
        return f"{self.url}/s/{urllib.parse.quote(sandbox, safe='')}/{view}{query}"


def bearer_of(header: str) -> str:
    """Return the token of an Authorization header; "" when it has none."""
    scheme, _, secret = header.partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what the server refuses into errors that an assistant can act on."""
    try:
        yield
    except ApiError as error:
        causes = [_cause(cause) for cause in error.causes[:_MOST_CAUSES]]
        hint = _HINTS.get(error.code, "")
        text = plain(str(error), most=600)
        raise ToolError("; ".join([f"{error.code}: {text}{hint}", *causes])) from error
    except (StoppedError, TimeoutError) as error:
        raise ToolError(plain(str(error), most=600)) from error
    except OSError as error:
        reason = getattr(error, "reason", None) or error
        raise ToolError(f"the Quotalab server does not answer: {reason}") from error


_HINTS = {
    401: " (give a token of the server, see docs/mcp.md)",
    403: " (the token's scope or the role in this sandbox does not allow it)",
    404: " (list_sandboxes and list_objects name what is there)",
}


def _cause(cause: dict[str, Any]) -> str:
    place = f"{cause['file']}:{cause['line']}: " if cause.get("file") else ""
    where = f"{cause['field']}: " if cause.get("field") else ""
    message = str(cause.get("message", "")).removeprefix(where)
    return plain(f"{place}{where}{message}", most=400)
