"""`./dev real [test]`: a real control plane on loopback, and scripts played on it."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from api.command.local import InProcess, begin
from api.proving import scripts
from api.proving.clusters import ClusterServer
from api.proving.playing import FRAMEWORKS, SandboxServer, differences, play
from api.proving.scripts import Record, Seen
from sandbox.following.cluster import WritableCluster
from tests.real.asking import RefusedError
from tests.real.building import MissingError, programs
from tests.real.plane import Plane, PlaneError

RECORDS = Path(__file__).resolve().parents[1] / "truth" / "records"
_LOOK_EVERY_S = 1.0


def main() -> int:
    """Start the control plane; hold it until interrupted, or play scripts on it."""
    options = _parser().parse_args()
    try:
        found = programs(options.kueue, options.manifests)
        if options.build:
            return 0
        records = scripts.read(options.scripts or [RECORDS])
        # YuniKorn's are not for it.
        records = [one for one in records if "queues" not in one.script]
        with (
            _folder(options.folder) as folder,
            Plane(found, folder, options.port, _frameworks(records)) as plane,
        ):
            if options.verb == "test":
                return _test(plane, options, records)
            print(f"export KUBECONFIG={plane.kubeconfig}", flush=True)
            while True:
                time.sleep(_LOOK_EVERY_S)
                plane.check()
    except (MissingError, PlaneError, RefusedError, scripts.ScriptError) as error:
        print(f"real: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("./dev real", description=__doc__)
    parser.add_argument("verb", nargs="?", choices=["up", "test"], default="up")
    parser.add_argument(
        "scripts",
        nargs="*",
        type=Path,
        default=[],
        help="of `test`: files or folders; else every record",
    )
    parser.add_argument(
        "--kueue", type=Path, metavar="FILE", help="the manager of another release"
    )
    parser.add_argument(
        "--manifests",
        type=Path,
        metavar="FOLDER",
        help="config/components of that release's module",
    )
    parser.add_argument(
        "--release", default="", help="what that release is called in records"
    )
    parser.add_argument("--port", type=int, default=21000, help="the first of nine")
    parser.add_argument("--folder", type=Path, help="for data and logs; else a new one")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="of `test`: write each record here, also those that are known",
    )
    parser.add_argument(
        "--plays",
        type=int,
        default=3,
        metavar="N",
        help="of `test`: how often a script is played that differs from a sandbox",
    )
    parser.add_argument(
        "--build", action="store_true", help="build what is missing, start nothing"
    )
    return parser


def _test(plane: Plane, options: argparse.Namespace, found: list[Record]) -> int:
    """Play scripts on both; write a record beside a script that has none."""
    # Not the sandboxes of this machine: these are gone with the folder.
    os.environ["QUOTALAB_DATA"] = str(plane.folder / "sandboxes")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    begin()
    transport = InProcess()
    releases = {**plane.programs.releases}
    if options.release:
        releases["kueue"] = options.release
    equal = unstable = 0
    # Kueue restarts for another Configuration: those of one are played together.
    for one in sorted(found, key=_config_of):
        try:
            plane.configure(one.script.get("config"))
        except PlaneError as error:  # a release may not know a field of it
            print(f"refused {one.script['name']}: {error}", flush=True)
            continue
        cluster = WritableCluster.of_kubeconfig(str(plane.kubeconfig), None)
        script = {**one.script, "release": releases}
        with ClusterServer(cluster, metrics=plane.metrics) as server:
            real = play(server, script)
        with SandboxServer(transport, _ticks, script) as server:
            ours = play(server, script)
        others: list[Seen] = []
        differs = differences(real, ours, script)
        for _ in range(options.plays - 1 if differs else 0):
            with ClusterServer(cluster, metrics=plane.metrics) as server:
                another = play(server, script)
            if differences(real, another, script):
                others.append(another)
            differs = differences(real, ours, script, others=others)
        again = differences(real, one.seen, one.script) if one.seen else []
        equal += not differs
        unstable += bool(others)
        _report(one, [*map(str, differs)], [*map(str, again)], len(others))
        plane.check()
        if options.into or one.seen is None:
            folder = options.into or one.file.parent
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / f"{one.file.stem}.json"
            record = Record(file, script, real, tuple(others))
            scripts.write(record)
    print(f"{equal} of {len(found)} scripts equal, {unstable} unstable")
    return int(equal != len(found))


def _report(one: Record, differs: list[str], again: list[str], others: int) -> None:
    word = "differs" if differs else "equal  "
    known = "" if one.seen is None else ", as recorded"
    if again:
        known = f", {len(again)} differences from the record"
    if others:
        known += f", unstable: {others} further plays showed something else"
    print(f"{word} {one.script['name']}{known}", flush=True)
    for line in differs:
        print(f"    {line}")
    for line in again:
        print(f"    record {line}")


def _frameworks(records: list[Record]) -> list[str]:
    """Return the integrations that scripts ask for and that are not Kubernetes' own."""
    configs = [one.script.get("config") or {} for one in records]
    named = [(one.get("integrations") or {}).get("frameworks") or () for one in configs]
    return sorted({*chain(*named)} - {*FRAMEWORKS})


def _config_of(one: Record) -> str:
    config = one.script.get("config")
    return json.dumps(config, sort_keys=True) if config else ""


def _ticks(key: str, count: int) -> None:
    from api.command.local import make_ticks

    for _ in make_ticks(key, count):
        pass


@contextlib.contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="quotalab-real-") as made:
        yield Path(made)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
