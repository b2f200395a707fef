"""The verbs `twin`, `shadow` and `incident`: a real cluster, its decisions, another policy."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from api.command.changing import play_ticks
from api.command.output import Found
from api.command.verbs import Asked, Part, WrongError, one, verb
from scheduler.cli.files import read_one
from scheduler.model.errors import SchedulerError
from scheduler.model.texts.values import read_values

#: Of a recording's folder; the other files in it are not needed.
_FOLDER = ("snapshot-0.json", "watch.jsonl", "config.yaml")

#: Of a manifest. Its status is the cluster's, and is no edit.
_MANIFEST = {"apiVersion", "kind", "metadata", "spec", "status"}


def _arguments(part: Part) -> None:
    part.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="what `quotalab record` or kubectl wrote, or the folder of a recording",
    )
    part.add_argument(
        "--context",
        metavar="NAME",
        help="follow this cluster instead: one that the operator's file names",
    )
    part.add_argument("--title", default="", help="of the sandbox")
    part.add_argument(
        "--paused", action="store_true", help="stay at the begin of the recording"
    )


@verb(
    "twin",
    "show a real cluster, as it was recorded or as it is, to scrub and to fork",
    "twin prod.qrec",
    "twin prod.qrec prod.1.qrec --title 'Tuesday' --paused",
    "twin recordings/tuesday/",
    "twin --context prod",
    arguments=_arguments,
)
def twin(asked: Asked) -> Found:
    """Make the sandbox; a recording is played to its end, a cluster is followed."""
    words = asked.words
    if bool(words.files) == bool(words.context):
        raise WrongError("expected the files of a recording, or --context NAME")
    if words.context:
        body: Any = {"title": words.title, "cluster": words.context}
        followed: Any = asked.client.operations.twins_create(body)
        notes = [] if asked.remote else ["it is followed while `quotalab up` runs"]
        return Found(document=followed, line=followed["id"], notes=notes)
    files = [_file(path) for given in words.files for path in _paths(given)]
    made: Any = asked.client.operations.twins_create(
        {"title": words.title or words.files[0].stem, "files": files}
    )
    if not words.paused and made["lastTick"]:
        play_ticks(asked, made["id"], made["lastTick"])
        made = asked.client.read(made["id"])
    notes = made["problem"].splitlines()
    return Found(document=made, line=f"{made['id']}  tick {made['tick']}", notes=notes)


def _shadow(part: Part) -> None:
    one(part)
    part.add_argument("--most", type=int, default=500, help="the newest so many (500)")
    part.add_argument("--seconds", type=int, default=20, help="for so long (20)")


@verb(
    "shadow",
    "hold a real cluster's decisions against what this engine decides",
    "shadow ID",
    "shadow ID --most 50 --json",
    arguments=_shadow,
)
def shadow(asked: Asked) -> Found:
    """Print each decision that differs, and one closing line."""
    words = asked.words
    found: Any = asked.client.operations.shadow_read(
        words.sandbox, most=words.most, seconds=words.seconds
    )
    lines = [
        f"tick {row['tick']}  {row['kind']} {row['subject']}: {row['difference']}"
        for row in found["disagreements"]
    ]
    closing = f"{found['judged']} decisions, {found['agree']} agree"
    if found["judged"] < found["decisions"]:
        lines.append(f"the newest of {found['decisions']}; --seconds gives more time")
    return Found(document=found, text="".join(f"{x}\n" for x in [*lines, closing]))


def _incident(part: Part) -> None:
    one(part)
    part.add_argument("--from", dest="begin", type=int, required=True, metavar="TICK")
    part.add_argument("--to", dest="end", type=int, required=True, metavar="TICK")
    part.add_argument(
        "--policy",
        required=True,
        metavar="FILE",
        help="merge patches: a policy's `spec`, or manifests of objects that are there",
    )
    part.add_argument("--seconds", type=int, default=30, help="at most so long (30)")


@verb(
    "incident",
    "replay a window of a real cluster with another policy",
    "incident ID --from 60 --to 600 --policy fair.yaml",
    arguments=_incident,
)
def incident(asked: Asked) -> Found:
    """Replay a stretch of a recording with changes; print the outcome and how near a replay without changes comes."""
    words = asked.words
    body: Any = {
        "fromTick": words.begin,
        "toTick": words.end,
        "edits": _edits(words.policy),
        "seconds": words.seconds,
    }
    found: Any = asked.client.operations.incident_create(words.sandbox, body)
    notes = []
    if found["startErrorMs"]:
        near, far = (round(ms / 1000) for ms in found["startErrorMs"])
        notes = [f"its own policy replayed: starts off by {near} s, p90 {far} s"]
    return Found(document=found, line=found["sentence"], notes=notes)


def _edits(file: str) -> list[dict[str, Any]]:
    """Return the documents of a file as merge patches."""
    try:
        found = read_values(read_one(file)[1], file=file)
    except SchedulerError as error:
        raise WrongError(str(error)) from error
    edits = [_edit(file, one) for one in found if one is not None]
    if not edits:
        raise WrongError(f"{file}: expected a policy or manifests, got no document")
    return edits


def _edit(file: str, patch: Any) -> dict[str, Any]:
    """Return a document as a merge patch: of an object, or of the policy."""
    if not isinstance(patch, dict):
        problem = f"expected documents with `kind` or `spec`, got {patch!r:.40}"
        raise WrongError(f"{file}: {problem}")
    if unknown := sorted(map(str, patch.keys() - _MANIFEST)):
        raise WrongError(f"{file}: expected `spec`, got {', '.join(unknown)}")
    metadata, spec = patch.get("metadata") or {}, patch.get("spec")
    for part, given in (("metadata", metadata), ("spec", spec or None)):
        if not isinstance(given, dict):
            raise WrongError(f"{file}: expected fields in `{part}`, got {given!r:.40}")
    return {
        "kind": patch.get("kind", "Policy"),
        "namespace": metadata.get("namespace", ""),
        "name": metadata.get("name", "policy"),
        "patch": {"spec": spec},
    }


def _paths(given: Path) -> list[Path]:
    """Return a file with its parts, or the files of a folder that are needed."""
    if given.is_dir():
        found = [path for path in sorted(given.iterdir()) if _name(path) in _FOLDER]
        if len({_name(path) for path in found} & set(_FOLDER[:2])) < 2:
            raise WrongError(f"{given}: expected {_FOLDER[0]} and {_FOLDER[1]} in it")
        return found
    if not given.is_file():
        raise WrongError(f"{given}: no such file")
    parts = [given.with_suffix(f".{n}{given.suffix}") for n in range(1, 10_000)]
    later = [path for path in parts if path.is_file()]
    return [given, *later] if given.suffix == ".qrec" else [given]


def _name(path: Path) -> str:
    return path.name.removesuffix(".gz")


def _file(path: Path) -> Any:
    return {"name": path.name, "data": base64.b64encode(path.read_bytes()).decode()}
