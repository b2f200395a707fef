"""Verbs that read: list, table, events, export, hash, state, metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, get_args

from api.command.output import Found
from api.command.verbs import Asked, Part, WrongError, one, verb
from sandbox.base.environment import make_private_file

_TEXTS = ("all", "objects", "policy", "queues")
_LINES = ("workloads", "events", "samples")
_WHAT = (*_TEXTS, *_LINES, "archive")
TableName = Literal[
    "workloads",
    "pods",
    "nodes",
    "clusterqueues",
    "localqueues",
    "cohorts",
    "resourceflavors",
    "queues",
    "applications",
    "schedulers",
]
TABLES = get_args(TableName)
#: The columns that people see first; `--json` has all of them.
_FIRST = ("namespace", "name", "queue", "clusterQueue", "phase", "state", "node")
_MOST = 8


@verb("list", "list sandboxes", "list", "list --server https://quotalab.example --json")
def list_(asked: Asked) -> Found:
    """List sandboxes."""
    rows = asked.client.sandboxes()
    return Found(rows=rows, columns=("id", "tick", "playing", "stack", "title"))


@verb("scenarios", "list the library", "scenarios")
def scenarios(asked: Asked) -> Found:
    """List scenarios."""
    items: Any = asked.client.operations.scenarios_list()["items"]
    rows = [{**item, "title": item["title"]["en"]} for item in items]
    return Found(rows=rows, columns=("name", "stack", "title"))


def _open(part: Part) -> None:
    part.add_argument("scenario", metavar="NAME", help="of the library")
    part.add_argument("--seed", type=int)


@verb("open", "make a sandbox of a scenario", "open friday-rush", arguments=_open)
def open_(asked: Asked) -> Found:
    """Open a scenario."""
    words = asked.words
    made = asked.client.create(scenario=words.scenario, seed=words.seed)
    return Found(document=made, line=made["id"])


def _table(part: Part) -> None:
    one(part)
    part.add_argument("table", choices=TABLES, metavar="TABLE", help=", ".join(TABLES))
    part.add_argument("fields", nargs="*", metavar="FIELD=VALUE")
    part.add_argument("--tick", type=int, help="as it was then")
    part.add_argument("--sort", help="a field; -field is descending")
    part.add_argument("--search", help="words in name and namespace")
    part.add_argument("--limit", type=int, default=100, help="rows (100)")


@verb(
    "table",
    "print rows, as they are or as they were",
    "table ID workloads phase=pending --sort=-priority",
    "table ID clusterqueues --tick 60 --json",
    arguments=_table,
)
def table(asked: Asked) -> Found:
    """Print rows of a table."""
    words = asked.words
    found = asked.client.operations.tables_read(
        words.sandbox,
        words.table,
        fields=_pairs(words),
        limit=words.limit,
        search=words.search,
        sort=words.sort,
        tick=words.tick,
    )
    rows, total = found["items"], found["total"]
    left = f"{len(rows)} of {total} rows; --limit shows more, up to 5000"
    return Found(
        rows=rows, columns=_columns(rows), notes=[left] if len(rows) < total else []
    )


def _pairs(words: Any) -> dict[str, str]:
    found = {}
    for pair in words.fields:
        name, equals, value = pair.partition("=")
        if not equals:
            raise WrongError(f"expected FIELD=VALUE, got {pair!r}")
        found[name] = value
    return found


def _columns(rows: list[dict[str, Any]]) -> list[str]:
    """Return what is worth a column: short values, the well-known ones first."""
    if not rows:
        return ["name"]
    plain = [
        name
        for name, value in rows[0].items()
        if not isinstance(value, dict | list) and name not in ("key", "kind", "uid")
    ]
    first = [name for name in _FIRST if name in plain]
    return [*first, *(name for name in plain if name not in first)][:_MOST]


def _events(part: Part) -> None:
    one(part)
    part.add_argument("--type", help="e.g. Preempt")
    part.add_argument("--subject", help="e.g. Workload/default/job-a")
    part.add_argument("--limit", type=int, default=1000, help="at most (1000)")


@verb(
    "events",
    "print what was decided",
    "events ID --type Preempt",
    "events ID --subject Workload/default/job-a --json",
    arguments=_events,
)
def events(asked: Asked) -> Found:
    """Print events, oldest first."""
    words = asked.words
    query = {n: v for n in ("type", "subject") if (v := getattr(words, n))}
    rows: list[dict[str, Any]] = []
    for event in asked.client.events(words.sandbox, **query):
        if len(rows) == words.limit:
            break
        rows.append({**event, "place": f"{event['revision']}.{event['seq']}"})
    columns = ("place", "tMs", "type", "subject", "by", "reason")
    return Found(rows=rows, columns=columns)


def _export(part: Part) -> None:
    one(part)
    part.add_argument(
        "--what", choices=_WHAT, default="all", help="archive: the whole, one file"
    )
    part.add_argument("--output", choices=["yaml", "json", "csv"], help="how")
    part.add_argument("--status", action="store_true", help="with statuses")
    part.add_argument("-o", "--file", metavar="FILE", help="stdout when left out")


@verb(
    "export",
    "write files that load again, tables as CSV, or the whole sandbox as one file",
    "export ID -o world.yaml",
    "export ID --what queues",
    "export ID --what events --output csv -o events.csv",
    "export ID --what archive -o sandbox.quotalab",
    arguments=_export,
)
def export(asked: Asked) -> Found:
    """Export."""
    words, operations = asked.words, asked.client.operations
    if words.what == "archive":
        if not words.file:
            raise WrongError("--what archive needs -o FILE: it is not text")
        archive = operations.archive_read(words.sandbox)
        make_private_file(Path(words.file))  # it holds all that the sandbox has
        Path(words.file).write_bytes(archive)
        return _written(words.file)
    found: Any = operations.export_read(
        words.sandbox,
        what=words.what,
        status=words.status or None,
        output="json" if words.json else words.output,
    )
    if not words.file:
        is_text = isinstance(found, str)
        return Found(text=found) if is_text else Found(document=found)
    text = found if isinstance(found, str) else json.dumps(found, indent=2)
    Path(words.file).write_text(text, encoding="utf-8")
    return _written(words.file)


def _written(name: str) -> Found:
    return Found(document={"file": name}, line=name)


def _restore(part: Part) -> None:
    part.add_argument("file", help="made by export --what archive")


@verb(
    "restore",
    "make a sandbox of an archive",
    "restore sandbox.quotalab",
    arguments=_restore,
)
def restore(asked: Asked) -> Found:
    """Restore an archive."""
    body = Path(asked.words.file).read_bytes()
    made = asked.client.operations.archives_create(body)
    return Found(document=made, line=made["id"])


def _tick(part: Part) -> None:
    one(part)
    part.add_argument("--tick", type=int, help="as it was then; now when left out")


@verb("hash", "print the hash of the world", "hash ID", arguments=_tick)
def hash_(asked: Asked) -> Found:
    """Print the hash."""
    found = asked.client.operations.hash_read(
        asked.words.sandbox, tick=asked.words.tick
    )
    return Found(document=found, line=found["hash"])


@verb("state", "print every row as JSON", "state ID --tick 60", arguments=_tick)
def state(asked: Asked) -> Found:
    """Print the state."""
    words = asked.words
    found = asked.client.operations.state_read(words.sandbox, tick=words.tick)
    return Found(document=found)


@verb("metrics", "print Prometheus metrics", "metrics ID", arguments=one)
def metrics(asked: Asked) -> Found:
    """Print metrics."""
    return Found(text=asked.client.metrics(asked.words.sandbox))
