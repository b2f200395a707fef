"""The reference of the REST API as a page, made of the OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

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


# ------------------------------------------------------------------------
# What the reference shows to type: a body of each operation, and its command line.
#
# A test sends each body to a sandbox with queues, and parses each line.

_FLAVOR = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ResourceFlavor",
    "metadata": {"name": "spot"},
}
_JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: nightly, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: busybox, resources: {requests: {cpu: 1}}}]
"""
_FILES = [{"name": "nightly.yaml", "text": _JOB}]
_QUEUE = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ClusterQueue",
    "metadata": {"name": "main"},
    "spec": {
        "namespaceSelector": {},
        "resourceGroups": [
            {
                "coveredResources": ["cpu"],
                "flavors": [
                    {
                        "name": "default",
                        "resources": [{"name": "cpu", "nominalQuota": 8}],
                    }
                ],
            }
        ],
    },
}
_VOLCANO = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {weight: 2, capability: {cpu: 8}}
"""
_EXPERIMENT = {
    "apiVersion": "quotalab.dev/v1",
    "kind": "Experiment",
    "spec": {
        "base": {"scenario": "classical-reclaim"},
        "seeds": {"count": 2},
        "variants": [
            {"name": "as it is"},
            {"name": "slow", "policy": {"simulation": {"defaultRuntime": "5m"}}},
        ],
        "horizon": "2m",
    },
}
_SEARCH = {
    **_EXPERIMENT,
    "spec": {
        "base": {"scenario": "classical-reclaim"},
        "seeds": {"count": 2},
        "objectives": [{"measure": "waitMeanMs"}],
        "search": {
            "runs": 8,
            "change": [{"quota": {"flavor": "default", "resource": "cpu", "step": 1}}],
        },
        "horizon": "2m",
    },
}
_TRACE = [{"name": "day.swf", "text": "1 0 -1 60 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1\n"}]

#: Operation -> a body that a sandbox with ClusterQueue `main`, its LocalQueues `main`
#: and `second`, and Job `train-1` takes.
BODIES: Mapping[str, dict[str, Any]] = {
    "apply": {"objects": [_FLAVOR]},
    "conversions": {"files": [{"name": "volcano.yaml", "text": _VOLCANO}]},
    "convert": {"stack": "yunikorn"},
    "delete_objects": {
        "objects": [{"kind": "Job", "namespace": "default", "name": "train-1"}]
    },
    "experiments_create": {"document": _EXPERIMENT},
    "experiments_estimate": {"document": _SEARCH},
    "forecast_submission_create": {"files": _FILES, "futures": 2},
    "forecasts_create": {"futures": 2, "horizonMs": 600000},
    "fork": {"tick": 2, "title": "from tick 2"},
    "import_files": {"files": _FILES},
    "imports_dry": {"files": _FILES},
    "move": {"workload": "default/train-1", "to": "second"},
    "node": {"name": "spare", "change": "add", "allocatable": {"cpu": "8"}},
    "objects_patch": {"metadata": {"labels": {"team": "search"}}},
    "objects_put": _QUEUE,
    "play": {"speed": 5},
    "policy_patch": {"spec": {"simulation": {"defaultRuntime": "5m"}}},
    "policy_put": {"spec": {}},
    "rewind": {"tick": 1},
    "sandboxes_change": {"title": "nightly queues"},
    "sandboxes_create": {"scenario": "classical-reclaim"},
    "shares_create": {"mayFork": True},
    "speed": {"speed": 5},
    "step": {"ticks": 10},
    "tokens_create": {"name": "ci", "scope": "write"},
    "traces_preview": {"files": _TRACE},
    "would_create": {"files": _FILES},
    "what_ifs_create": {
        "changes": [{"policy": {"spec": {"simulation": {"defaultRuntime": "5m"}}}}],
        "horizonMs": 60000,
    },
}
#: Operation -> the line of `quotalab` that asks for it.
COMMANDS: Mapping[str, str] = {
    "archive": "quotalab archive $ID",
    "archive_read": "quotalab export $ID --what archive -o sandbox.quotalab",
    "archives_create": "quotalab restore sandbox.quotalab",
    "compare_read": "quotalab compare $ID $OTHER",
    "conversions": "quotalab convert volcano.yaml",
    "disk_read": "quotalab disk",
    "events_read": "quotalab events $ID --type Preempt,Evict",
    "experiments_create": "quotalab experiment compare.yaml",
    "explain_read": "quotalab explain $ID default/train-1",
    "export_read": "quotalab export $ID -o world.yaml",
    "forecast_read": "quotalab forecast $ID --futures 20",
    "forecast_submission_create": "quotalab forecast $ID --submit nightly.yaml",
    "would_create": "quotalab would $ID nightly.yaml",
    "fork": "quotalab fork $ID --tick 2",
    "hash_read": "quotalab hash $ID",
    "import_files": "quotalab import --into $ID nightly.yaml",
    "incident_create": "quotalab incident $ID --from 60 --to 600 --policy fair.yaml",
    "metrics_read": "quotalab metrics $ID",
    "pause": "quotalab pause $ID",
    "play": "quotalab play $ID --speed 5",
    "policy_patch": "quotalab policy $ID --patch policy.yaml",
    "policy_read": "quotalab policy $ID",
    "preemption_steps_read": "quotalab preemption $ID $PLACE",
    "redo": "quotalab redo $ID",
    "reproduction_read": "quotalab reproduce $ID $PLACE",
    "rewind": "quotalab rewind $ID --tick 1",
    "sandboxes_change": "quotalab keep $ID --days 30 --ticks 0",
    "sandboxes_create": "quotalab open classical-reclaim",
    "sandboxes_delete": "quotalab delete $ID",
    "sandboxes_list": "quotalab list",
    "scenarios_list": "quotalab scenarios",
    "shadow_read": "quotalab shadow $ID",
    "speed": "quotalab speed $ID --speed 5",
    "state_read": "quotalab state $ID --tick 60",
    "step": "quotalab step $ID --ticks 10 --wait",
    "tables_read": "quotalab table $ID workloads phase=pending",
    "tokens_create": "quotalab token ci --scope write",
    "tokens_delete": "quotalab tokens --revoke $TOKEN_ID",
    "tokens_list": "quotalab tokens",
    "twins_create": "quotalab twin prod.qrec",
    "unarchive": "quotalab unarchive $ID",
    "undo": "quotalab undo $ID",
    "what_ifs_create": "quotalab what-if $ID --change more-nodes.yaml",
    "what_ifs_patch": "quotalab patch $ID 3 queues.yaml",
}
