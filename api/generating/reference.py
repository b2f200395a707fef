"""The reference of the REST API as a page, made of the OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from api.generating.examples import BODIES, COMMANDS
from api.generating.python import argument, text
from api.generating.shapes import (
    ListOf,
    Named,
    Operation,
    Type,
    fields_of,
    is_object,
    operations_of,
    type_of,
)

Document = dict[str, Any]

_ABOUT = (
    "Every path is below `/api/v1` of the server. A request carries a token as "
    "`Authorization: Bearer TOKEN` where people sign in. Times end in `Ms` and are "
    "milliseconds of the sandbox; `tick` counts its steps. A refusal is a `Status` with "
    "a message and `details.causes`; a 503 is asked again after `Retry-After` seconds.",
    "In the examples `$QUOTALAB_SERVER` is the address, `$API` is "
    "`$QUOTALAB_SERVER/api/v1`, `$ID` is a sandbox, and `client` is "
    "`quotalab.client.Client(SERVER, token=TOKEN)`.",
)


class Heading(NamedTuple):
    """A title; `name` is what a link to it names."""

    level: int
    text: str
    name: str


class Words(NamedTuple):
    """A paragraph; code stands between backticks."""

    text: str


class Code(NamedTuple):
    """What is typed into a shell (`sh`) or Python (`python`)."""

    language: str
    text: str


class Rows(NamedTuple):
    """A table."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


Block: TypeAlias = Heading | Words | Code | Rows


def reference(document: Document) -> Iterator[Block]:
    """Yield the reference: operations by what they are about, then all shapes.

    Cost: O(document).
    """
    yield Heading(1, "REST reference", "rest-reference")
    yield from map(Words, _ABOUT)
    described = {
        (method.upper(), path.removeprefix("/api/v1")): one
        for path, methods in document["paths"].items()
        for method, one in methods.items()
    }
    found = sorted(operations_of(document), key=lambda one: (_about(one), one.path))
    by_about = [(about, list(group)) for about, group in groupby(found, _about)]
    links = [f"[{about}](#about-{about})" for about, _ in by_about]
    yield Words(", ".join([*links, "[Shapes](#shapes)"]) + ".")
    for about, operations in by_about:
        yield Heading(2, about, f"about-{about}")
        for one in operations:
            yield from _operation(one, described[one.method, one.path])
    yield Heading(2, "Shapes", "shapes")
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield from _shape(name, schema)


def _about(operation: Operation) -> str:
    """Return the first part of the path that names a thing, below a sandbox too."""
    parts = [part for part in operation.path.split("/") if part and part[0] != "{"]
    return parts[1] if parts[0] == "sandboxes" and len(parts) > 1 else parts[0]


def _operation(one: Operation, described: Document) -> Iterator[Block]:
    yield Heading(3, f"{one.method} {one.path}", one.name)
    for paragraph in described["description"].strip().split("\n\n"):
        yield Words(" ".join(paragraph.split()))
    if one.query:
        rows = [
            (f"`{p['name']}`", _type(p.get("schema") or {}), p.get("description", ""))
            for p in described["parameters"]
            if p["in"] == "query"
        ]
        yield Rows(("parameter", "type", "meaning"), rows)
    if one.body is not None:
        needed = "" if one.body_required else ", or nothing"
        yield Words(f"Body: {_linked(one.body)}{needed} (`{one.body_media}`).")
    if one.answer is not None:
        yield Words(f"Answer: {_linked(one.answer)} (`{one.answer_media}`).")
    yield Code("sh", curl(one))
    yield Code("python", call(one))
    if command := COMMANDS.get(one.name):
        yield Code("sh", command)


def curl(one: Operation) -> str:
    """Return how a shell asks for it; a body is one that is tried, or left open."""
    path = re.sub(r"{(\w+)}", _place, one.path)
    needed = [f"{f.name}=${f.name.upper()}" for f in one.query if f.required]
    path += f"?{'&'.join(needed)}" if needed else ""
    words = (
        ["curl -sf"] if one.method in ("GET", "POST") else [f"curl -sf -X {one.method}"]
    )
    words.append(f'"$API{path}"')
    if one.body is not None and one.name in BODIES:
        words.append(f"--json '{json.dumps(BODIES[one.name])}'")
    elif one.method == "POST":
        words.append("--json @body.json" if one.body is not None else "--json '{}'")
    elif one.body is not None:
        words.append("--json @body.json")
    return " ".join(words)


def call(one: Operation) -> str:
    """Return how the Python client asks for it."""
    given = ["ID" if place == "sandbox_id" else place for place in one.places]
    if one.body is not None and (one.body_required or one.name in BODIES):
        given.append(repr(BODIES[one.name]) if one.name in BODIES else "body")
    given += [f"{argument(f)}={argument(f)}" for f in one.query if f.required]
    return f"client.operations.{one.name}({', '.join(given)})"


def _place(match: re.Match[str]) -> str:
    return "$ID" if match[1] == "sandbox_id" else f"${match[1].upper()}"


def _shape(name: str, schema: Document) -> Iterator[Block]:
    yield Heading(3, name, f"shape-{name}")
    if schema.get("description"):
        yield Words(" ".join(schema["description"].split()))
    if not is_object(schema):
        yield Words(f"One of: {_linked(type_of(schema))}.")
        return
    meanings = schema.get("properties") or {}
    rows = [
        (
            f"`{field.name}`",
            _linked(field.type) + ("" if field.required else ", optional"),
            _meaning(meanings.get(field.name) or {}),
        )
        for field in fields_of(schema)
    ]
    if rows:
        yield Rows(("field", "type", "meaning"), rows)


def _meaning(schema: Document) -> str:
    """Return what a field means, with its default and its limits."""
    limits = [
        f"{words} {json.dumps(schema[key])}"
        for key, words in (
            ("default", "default"),
            ("minimum", "at least"),
            ("maximum", "at most"),
            ("maxItems", "items at most"),
        )
        if schema.get(key) is not None
    ]
    said = " ".join(str(schema.get("description", "")).split())
    return "; ".join(part for part in (said, ", ".join(limits)) if part)


def _type(schema: Document) -> str:
    return f"`{text(type_of(schema))}`"


def _linked(type_: Type) -> str:
    """Return a type, with a link where it is a shape or a list of one."""
    match type_:
        case Named(name):
            return f"[{name}](#shape-{name})"
        case ListOf(Named(name)):
            return f"list of [{name}](#shape-{name})"
        case _:
            return f"`{text(type_)}`"


# ------------------------------------------------------------------ as a page


def page(blocks: Iterable[Block], style: str) -> str:
    """Return an HTML page of the blocks; `style` is the address of its style sheet."""
    body = "\n".join(_html(block) for block in blocks)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        "<title>REST reference - Quotalab</title>\n"
        f'<link rel="stylesheet" href="{escape(style)}">\n</head>\n'
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _html(block: Block) -> str:
    match block:
        case Heading(level, words, name):
            at = escape(name)
            return f'<h{level} id="{at}"><a href="#{at}">{escape(words)}</a></h{level}>'
        case Words(words):
            return f"<p>{_inline(words)}</p>"
        case Code(language, words):
            return f'<pre class="{language}"><code>{escape(words)}</code></pre>'
        case Rows(head, rows):
            return _table(head, rows)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    lines = ["".join(f"<td>{_inline(cell)}</td>" for cell in row) for row in rows]
    inner = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f"<table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{inner}\n</tbody>\n</table>"
    )


def _inline(words: str) -> str:
    """Return escaped text with its code and links; none of it is HTML before."""
    found = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(words))
    return re.sub(r"\[([\w-]+)\]\((#[\w-]+)\)", r'<a href="\2">\1</a>', found)
