"""The verb `prove`: a script on a sandbox and on a cluster, and where they differ."""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from api.client.sending import Transport
from api.command.output import Found
from api.command.verbs import Asked, Part, WrongError, verb
from api.proving import scripts
from api.proving.clusters import RESERVED, ClusterServer, LeftError, namespaces_of
from api.proving.playing import (
    MESSAGES,
    RELEASE,
    Document,
    RefusedError,
    SandboxServer,
    Seen,
    differences,
    play,
)
from api.proving.scripts import Record, ScriptError
from api.proving.shown import Difference
from api.proving.upgrades import unfollowed
from sandbox.following.cluster import ClusterError, WritableCluster
from scheduler.cli.files import release_of
from scheduler.cli.statuses import FAILED, GOOD, OURS
from scheduler.model.errors import SchedulerError

_UNREAD = (
    "{}: the cluster's ConfigMap kueue-system/kueue-manager-config cannot be read; "
    "its Configuration is taken to be what the script says"
)

_UNKNOWN = (
    "{}: the cluster does not say which release of {} it runs; the sandbox decides as "
    "{}: write `release` into the script"
)


def _arguments(part: Part) -> None:
    part.add_argument(
        "scripts", nargs="+", type=Path, metavar="SCRIPT", help="files or folders"
    )
    part.add_argument(
        "--kubeconfig", metavar="FILE", help="play them on a cluster of this file, too"
    )
    part.add_argument(
        "--context", metavar="NAME", help="the cluster to play on; there is no default"
    )
    part.add_argument(
        "--yes-write",
        action="store_true",
        help="objects may be made and deleted on that cluster",
    )
    part.add_argument(
        "--record",
        type=Path,
        metavar="FOLDER",
        help="write what the cluster showed, as records to play later without it",
    )
    part.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="kueue=0.19.2",
        help="play each on two sandboxes, as its release and as this one, and say what "
        "differs, and which changes could matter that are not followed",
    )


@verb(
    "prove",
    "play scripts on a sandbox and on a cluster, or hold it against records of one",
    "prove tests/truth/records",
    "prove mine.yaml --against kueue=0.19.2",
    "prove mine.yaml --kubeconfig ~/.kube/config --context kind-test --yes-write",
    arguments=_arguments,
)
def prove(asked: Asked) -> Found:
    """Play; status 0 when all are equal, 1 when one differs."""
    words = asked.words
    try:
        records = scripts.read(words.scripts)
        if not records:
            raise WrongError("expected scripts or records, found none")
        if words.against:
            return _upgraded(asked, records)
        return _proved(asked, records, _cluster(words))
    except (ScriptError, ClusterError, RefusedError, SchedulerError) as error:
        raise WrongError(str(error)) from error


def _cluster(words: Any) -> WritableCluster | None:
    """Return the cluster that may be written to; None where none is named."""
    if not words.kubeconfig:
        for name in ("context", "record"):
            if getattr(words, name):
                raise WrongError(f"--{name}: expected --kubeconfig FILE with it")
        return None
    if not words.context:
        raise WrongError(
            "expected --context NAME: the cluster on which objects are made and deleted"
        )
    if not words.yes_write:
        raise WrongError(
            f"expected --yes-write: on {words.context} objects are made and deleted"
        )
    return WritableCluster.of_kubeconfig(words.kubeconfig, words.context)


def _proved(
    asked: Asked, records: list[Record], cluster: WritableCluster | None
) -> Found:
    listed: list[Document] = []
    lines: list[str] = []
    notes: list[str] = []
    status = GOOD
    for record in records:
        if cluster is not None:
            with _interrupted_by_signals():
                try:
                    record = _on_cluster(cluster, record, notes)
                except LeftError as error:
                    notes.append(f"{record.script['name']}: {error}")
                    status = OURS
                    break
            if asked.words.record:
                asked.words.record.mkdir(parents=True, exist_ok=True)
                file = asked.words.record / f"{record.script['name']}.json"
                scripts.write(replace(record, file=file))
        if record.seen is None:
            raise ScriptError(
                f"{record.file}: a script that no cluster has played: expected a "
                "record {script, seen}, or --kubeconfig with a cluster to play it on"
            )
        ours = in_sandbox(asked, record.script)
        found = differences(record.seen, ours, record.script, others=record.others)
        lines += _lines(record, ours, found)
        listed.append(_document(record, found))
        status = FAILED if found else status
    equal = sum(not one["differences"] for one in listed)
    lines.append(f"{equal} of {len(listed)} scripts equal")
    return Found(document=listed, text="\n".join(lines), notes=notes, status=status)


def _upgraded(asked: Asked, records: list[Record]) -> Found:
    """Play each script as its release and as another; status 1 when one differs."""
    if asked.words.kubeconfig:
        raise WrongError("--against: expected no --kubeconfig: both are sandboxes")
    against = release_of(asked.words.against)
    listed: list[Document] = []
    lines: list[str] = []
    for record in records:
        name, script = record.script["name"], record.script
        before = {**RELEASE, **(script.get("release") or {})}
        sides = [{**script, "release": one} for one in (before, {**before, **against})]
        first, last = (in_sandbox(asked, side) for side in sides)
        found = differences(first, last, script, told=False)
        could = unfollowed(sides[0], sides[1])
        word = "differs " if found else "could   " if could else "equal   "
        lines.append(f"{word} {name}")
        lines += _places(found)
        lines += [f"  {one.id}: {one.now}; before, {one.before}" for one in could]
        document = _document(record, found) | {"could": [one.id for one in could]}
        listed.append(document | {"release": before, "against": against})
    differ = sum(bool(one["differences"]) for one in listed)
    could_ = sum(bool(one["could"]) and not one["differences"] for one in listed)
    lines.append(f"{differ} of {len(listed)} scripts differ, {could_} more could")
    status = FAILED if differ else GOOD
    return Found(document=listed, text="\n".join(lines), notes=[], status=status)


def in_sandbox(asked: Asked, script: Document) -> Seen:
    """Play a script on a sandbox of its own, here or on the server that is asked."""
    transport: Transport = asked.client.operations.transport
    with SandboxServer(transport, _ticks(asked), script, asked.words.token) as server:
        return play(server, script)


def _ticks(asked: Asked) -> Any:
    if asked.remote:
        return lambda key, ticks: asked.client.step(key, ticks)
    from api.command.local import make_ticks

    return lambda key, ticks: [*make_ticks(key, ticks)]


def _on_cluster(cluster: WritableCluster, record: Record, notes: list[str]) -> Record:
    """Return the record of a script that is played on a cluster now."""
    script, name = record.script, record.script["name"]
    if "queues" in script:
        raise ScriptError(
            f"{record.file}: queues: expected a script of Kueue; YuniKorn is proved "
            "from records alone"
        )
    if found := sorted(namespaces_of(script) & RESERVED):
        raise ScriptError(
            f"{record.file}: expected namespaces of its own, got {', '.join(found)}"
        )
    with ClusterServer(cluster) as server:
        there = server.configuration()
        if there is None:
            notes.append(_UNREAD.format(name))
        else:
            _same_configuration(record, script.get("config") or {}, there)
            script = {**script, "config": there}
        release = {**(script.get("release") or {}), **server.releases()}
        notes += [
            _UNKNOWN.format(name, who, RELEASE[who])
            for who in ("kueue", "kubernetes")
            if who not in release
        ]
        script = {**script, "release": release}
        return replace(record, script=script, seen=play(server, script))


def _same_configuration(record: Record, wanted: Document, there: Document) -> None:
    for name, value in wanted.items():
        if value != there.get(name):
            raise ScriptError(
                f"{record.file}: config.{name}: the cluster's Kueue has "
                f"{json.dumps(there.get(name))}, the script wants {json.dumps(value)}; "
                "set it in the ConfigMap kueue-system/kueue-manager-config and restart "
                "Kueue, or leave it out of the script"
            )


@contextlib.contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """Let SIGTERM end what runs as Ctrl-C does: what was made is removed."""
    before = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _lines(record: Record, ours: Seen, found: list[Difference]) -> list[str]:
    name = record.script["name"]
    if not found:
        return [f"equal    {name}"]
    release = record.script.get("release") or {}
    of = ", ".join(f"{who} {which}" for who, which in release.items())
    lines = [f"differs  {name} ({of or 'recorded'} | the sandbox)"]
    lines += _places(found)
    for who, seen in (("cluster", record.seen or {}), ("sandbox", ours)):
        for what, said in (seen.get(MESSAGES) or {}).items():
            if any(one.at[0] == what for one in found):
                lines.append(f"  {what}, the {who}: {said}")
    return lines


def _places(found: list[Difference]) -> Iterator[str]:
    where: tuple[str, ...] = ()
    for one in found:
        if (here := one.at[:2]) != where:  # the step, and the object to look at
            where = here
            yield f"  {' > '.join(here)}"
        place = ".".join(one.at[2:]) or "all"
        yield f"    {place}: {json.dumps(one.real)} | {json.dumps(one.ours)}"


def _document(record: Record, found: list[Difference]) -> Document:
    return {
        "script": record.script["name"],
        "release": record.script.get("release") or {},
        "differences": [
            {"at": list(one.at), "real": one.real, "ours": one.ours} for one in found
        ],
    }
