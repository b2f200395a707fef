"""Verbs that let other programs in: kubeconfig, token, tokens."""

from __future__ import annotations

import sys
from typing import Any

from api.command.output import Found
from api.command.verbs import Asked, Part, WrongError, one, verb
from scheduler.model.amounts import is_whole
from scheduler.model.texts.plain_text import write

#: Where `quotalab up` listens unless it is given another port.
HERE = "http://127.0.0.1:8000"


@verb(
    "kubeconfig",
    "print a kubeconfig for a sandbox; with a token in it if one is given",
    "kubeconfig ID > sandbox.yaml && kubectl --kubeconfig sandbox.yaml get pods -A",
    "kubeconfig ID --server https://quotalab.example",
    arguments=one,
)
def kubeconfig(asked: Asked) -> Found:
    """Print a kubeconfig for a sandbox that exists."""
    words = asked.words
    name = f"quotalab-{asked.client.read(words.sandbox)['id']}"
    root = (words.server or HERE).rstrip("/")
    address = f"{root}/api/v1/sandboxes/{words.sandbox}"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": address}}],
        "users": [{"name": name, "user": _user(words.token)}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    sys.stderr.write(warning(root, words.token))
    return Found(document=document, text=write(document))


def warning(root: str, token: str) -> str:
    """Return a warning about an address to which kubectl sends no token; else ""."""
    if not token or not root.startswith("http:"):
        return ""
    return (
        "quotalab: kubectl sends no token over plain HTTP; use an https:// address, or a "
        "local server, which needs none\n"
    )


def _user(token: str) -> dict[str, str]:
    return {"token": token} if token else {}


def _token(part: Part) -> None:
    part.add_argument("name", help="what it is for")
    part.add_argument("--scope", choices=["read", "write", "admin"], default="read")
    part.add_argument("--expires", metavar="TIME", help="e.g. 2027-01-31T00:00:00Z")


@verb(
    "token",
    "make an API token and print its secret, once",
    "token ci --scope write",
    "token notebook --expires 2027-01-31T00:00:00Z",
    arguments=_token,
)
def token(asked: Asked) -> Found:
    """Make one."""
    words = asked.words
    body: Any = {"name": words.name, "scope": words.scope, "expiresAt": words.expires}
    made = asked.client.operations.tokens_create(body)
    return Found(document=made, line=made["token"])


def _tokens(part: Part) -> None:
    part.add_argument("--revoke", metavar="ID", help="of the token that is to end")


@verb(
    "tokens",
    "list your API tokens, or end one",
    "tokens",
    "tokens --revoke 3",
    arguments=_tokens,
)
def tokens(asked: Asked) -> Found:
    """List or revoke."""
    given = asked.words.revoke
    if given is not None:
        if not is_whole(given):
            raise WrongError(f"--revoke: expected the number of a token, got {given!r}")
        asked.client.operations.tokens_delete(given)
        return Found(document={"revoked": given}, line="revoked")
    rows = asked.client.operations.tokens_list()["items"]
    return Found(rows=rows, columns=("id", "name", "scope", "expiresAt", "usedAt"))
