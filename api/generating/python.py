"""Types and operations for the Python client."""

from __future__ import annotations

import keyword
import re
import textwrap
from typing import Any

from api.generating.shapes import (
    Either,
    Field,
    ListOf,
    Literals,
    MapOf,
    Named,
    Operation,
    Plain,
    Type,
    fields_of,
    is_object,
    operations_of,
    type_of,
)

Document = dict[str, Any]
_WORDS = {
    "text": "str",
    "integer": "int",
    "number": "float",
    "flag": "bool",
    "null": "None",
    "bytes": "bytes",
    "any": "Any",
}
_TYPES = '''\
"""The API's types. Made by `manage.py apitypes` from the schema; not edited by hand."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict
'''
_OPERATIONS = '''\
"""The API's operations. Made by `manage.py apitypes` from the schema; not edited by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from .sending import AsyncSender, Sender, given
from .records import {names}
'''


def types(document: Document) -> str:
    """Return the module of types."""
    schemas = document["components"]["schemas"]
    aliases = {n: s for n, s in schemas.items() if not is_object(s)}
    parts = [_TYPES]
    parts += [_alias(name, s) for name, s in aliases.items() if not _refers(s)]
    parts += [_class(name, s) for name, s in schemas.items() if is_object(s)]
    parts += [_alias(name, s) for name, s in aliases.items() if _refers(s)]
    return "\n\n".join(parts)


def _refers(schema: Document) -> bool:
    return "$ref" in repr(schema)


def _alias(name: str, schema: Document) -> str:
    return f"{name}: TypeAlias = {text(type_of(schema))}\n"


def _class(name: str, schema: Document) -> str:
    fields = fields_of(schema)
    if all(f.name.isidentifier() and not keyword.iskeyword(f.name) for f in fields):
        lines = [f"class {name}(TypedDict):", *_doc(schema, name), ""]
        lines += [f"    {f.name}: {_wanted(f)}" for f in fields]
        return "\n".join(lines) + "\n"
    inner = "".join(f'        "{f.name}": "{_wanted(f)}",\n' for f in fields)
    return f'{name} = TypedDict(\n    "{name}",\n    {{\n{inner}    }},\n)\n'


def _doc(schema: Document, name: str) -> list[str]:
    words = " ".join(schema.get("description", name).split()).replace("\\", "")
    lines = textwrap.wrap(words or name, 78)
    if len(lines) == 1:
        return [f'    """{lines[0]}"""']
    head, *rest = lines
    return [f'    """{head}', *(f"    {line}" for line in rest), '    """']


def _wanted(field: Field) -> str:
    inner = text(field.type)
    return inner if field.required else f"NotRequired[{inner}]"


def text(type_: Type) -> str:
    """Return a type as Python writes it."""
    match type_:
        case Plain(name):
            return _WORDS[name]
        case Named(name):
            return name
        case Literals(values):
            return f"Literal[{', '.join(map(repr, values))}]"
        case ListOf(item):
            return f"list[{text(item)}]"
        case MapOf(value):
            return f"dict[str, {text(value)}]"
        case Either(types_):
            return " | ".join(text(one) for one in types_)


def operations(document: Document) -> str:
    """Return the module of operations, each once to wait for and once to await."""
    found = operations_of(document)
    names = sorted({name for o in found for name in _named(o)})
    listed = "(\n" + "".join(f"    {name},\n" for name in names) + ")"
    parts = [_OPERATIONS.format(names=listed)]
    for waits in (True, False):
        kind, sender = ("", "Sender") if waits else ("Async", "AsyncSender")
        doc = "each waits for its answer" if waits else "each is awaited"
        head = f"class {kind}Operations({sender}):\n"
        head += f'    """Every operation of the API; {doc}."""\n'
        parts.append("\n".join([head, *(_method(o, waits=waits) for o in found)]))
    return "\n\n".join(parts)


def _named(operation: Operation) -> set[str]:
    used = [operation.answer, operation.body, *(p.type for p in operation.query)]
    return {name for type_ in used if type_ for name in _names(type_)}


def _names(type_: Type) -> set[str]:
    match type_:
        case Named(name):
            return {name}
        case ListOf(inner) | MapOf(inner):
            return _names(inner)
        case Either(types_):
            return {name for one in types_ for name in _names(one)}
        case _:
            return set()


def _method(operation: Operation, *, waits: bool) -> str:
    word, wait = ("def", "") if waits else ("async def", "await ")
    head = "".join(f"        {line},\n" for line in _arguments(operation))
    answer = text(operation.answer) if operation.answer else "None"
    call = ", ".join(_call(operation))
    sent = f"{wait}self.send({call})"
    body = f"return cast({answer!r}, {sent})" if operation.answer else sent
    return (
        f"    {word} {operation.name}(\n{head}    ) -> {answer}:\n"
        f'        """{operation.help}"""\n'
        f"        {body}\n"
    )


def _arguments(operation: Operation) -> list[str]:
    lines = ["self", *(f"{name}: str | int" for name in operation.places)]
    if operation.body is not None:
        default = "" if operation.body_required else " | None = None"
        lines.append(f"body: {text(operation.body)}{default}")
    if operation.query:
        lines.append("*")
    for field in operation.query:
        kind = (
            f"Mapping[str, {text(field.type.value)}]"
            if isinstance(field.type, MapOf)
            else text(field.type)
        )
        lines.append(f"{argument(field)}: {kind} | None = None")
    return lines


def argument(field: Field) -> str:
    """Return the name of a query's field as Python spells it: toTick is to_tick."""
    name = re.sub(r"(?<=[a-z])[A-Z]", lambda found: f"_{found[0].lower()}", field.name)
    return f"{name}_" if keyword.iskeyword(name) else name


def _call(operation: Operation) -> list[str]:
    path = operation.path
    for name in operation.places:
        path = path.replace(f"{{{name}}}", f"{{self.part({name})}}")
    parts = [repr(operation.method), f'f"{path}"']
    if operation.body is not None:
        parts.append("body=body")
        if operation.body_media != "application/json":
            parts.append(f"media={operation.body_media!r}")
    if operation.query:
        plain = [f for f in operation.query if not isinstance(f.type, MapOf)]
        pairs = [f"{f.name!r}: {argument(f)}" for f in plain]
        spread = [
            f"**({argument(f)} or {{}})" for f in operation.query if f not in plain
        ]
        parts.append(f"query=given({{{', '.join([*spread, *pairs])}}})")
    if operation.answer and operation.answer_media != "application/json":
        parts.append(f"accept={operation.answer_media!r}")
    return parts
