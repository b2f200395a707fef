"""`quotalab record FILE.qrec`: a running cluster, followed read-only into one file."""

from __future__ import annotations

import argparse
import signal
import threading
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from sandbox.base.commands import CommandError
from sandbox.base.errors import InvalidError
from sandbox.following.cluster import Cluster, ClusterError
from sandbox.following.recorder import ROTATE_BYTES, Progress, Recorder, RecordingFile
from sandbox.following.resources import NOT_SERVED, cluster_role
from scheduler.model.durations import milliseconds
from scheduler.model.errors import SchedulerError
from scheduler.recorded.qrec.anonymising import Anonymiser

_MIB = 1024 * 1024
#: How often it says how far it is: on a terminal, over the same line, or in a log.
_TERMINAL_S, _LOG_S = 1.0, 60.0


class Command(BaseCommand):
    """Follow a cluster until interrupted, or for a time."""

    help = (
        "Follow a running cluster with list and watch only, and write what it was and "
        "every change to a file. Secrets, environment, arguments and annotations that "
        "no scheduler reads are never written; see docs/recording.md."
    )
    requires_system_checks: list[str] = []  # noqa: RUF012 (Django's own shape)

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file, the cluster, and how names are written."""
        parser.add_argument("file", type=Path, nargs="?", metavar="FILE.qrec")
        parser.add_argument("--kubeconfig", help="a file; else as kubectl finds it")
        parser.add_argument("--context", help="of the kubeconfig; else its current one")
        parser.add_argument(
            "--in-cluster", action="store_true", help="as the pod this runs in"
        )
        parser.add_argument(
            "--for",
            dest="long",
            type=_seconds,
            metavar="TIME",
            help='stop after it, e.g. "30m"',
        )
        parser.add_argument(
            "--anonymise",
            type=Path,
            metavar="KEYFILE",
            help="map names by a hash with the key in this file (32 bytes or more)",
        )
        parser.add_argument(
            "--rotate-mib",
            type=int,
            default=ROTATE_BYTES // _MIB,
            help="begin a new part, FILE.1.qrec, above this size (default %(default)s)",
        )
        parser.add_argument(
            "--print-role",
            action="store_true",
            help="print the ClusterRole that this needs, and stop",
        )

    def handle(self, *_: object, **options: Any) -> None:
        """Record. CommandError says what is missing or was refused."""
        if options["print_role"]:
            self.stdout.write(cluster_role(), ending="")
            return
        try:
            self._record(options)
        except (ClusterError, InvalidError, SchedulerError, OSError) as error:
            raise CommandError(str(error)) from error

    def _record(self, options: dict[str, Any]) -> None:
        recorder = self._recorder(options)
        stopped = lambda *_: recorder.stop.set()  # noqa: E731
        names = (signal.SIGINT, signal.SIGTERM)
        before = {name: signal.signal(name, stopped) for name in names}
        if options["long"]:
            timer = threading.Timer(options["long"], stopped)
            timer.daemon = True
            timer.start()
        self.begin()
        try:
            recorder.run(self.report)
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)
        self._close(recorder)

    def begin(self) -> None:
        """Begin to tell how far it is; nothing was said yet."""
        self._lost: dict[str, str] = {}
        self._open_line = False
        self._began = self._outage_began = time.monotonic()
        self._next = self._began + _TERMINAL_S

    def _recorder(self, options: dict[str, Any]) -> Recorder:
        if options["file"] is None:
            raise CommandError("expected the name of a file, such as prod.qrec")
        key = options["anonymise"]
        rewrite = Anonymiser(_key(key)).manifest if key else None
        cluster = _cluster(options)
        file = RecordingFile(options["file"], options["rotate_mib"] * _MIB)
        if file.cut_bytes:
            self.stderr.write(
                f"{file.path}: a torn end of {file.cut_bytes} bytes cut off"
            )
        return Recorder(cluster, file, rewrite=rewrite, anonymised=bool(key))

    def report(self, progress: Progress) -> None:
        """Say on stderr how far it is, and of an outage when it begins and ends."""
        now = time.monotonic()
        if progress.lost and not self._lost:
            self._outage_began = now
            kind, why = next(iter(progress.lost.items()))
            self._say(
                f"the cluster is not followed (first {kind}): {why}; trying again"
            )
        if self._lost and not progress.lost:
            lasted = now - self._outage_began
            kinds = f"{len(self._lost)} kind{'s' * (len(self._lost) != 1)}"
            self._say(f"followed again after {lasted:.0f} s: {kinds}, nothing missed")
        self._lost = {**self._lost, **progress.lost} if progress.lost else {}
        if now >= self._next:
            self._next = now + (_TERMINAL_S if self._is_terminal() else _LOG_S)
            self._tell(progress, now - self._began)

    def _tell(self, progress: Progress, lasted: float) -> None:
        line = (
            f"{lasted:.0f} s: {progress.entries['LISTED']} objects, "
            f"{progress.changes} changes, {progress.lag_s:.1f} s behind"
        )
        if self._is_terminal():  # the same line again
            self.stderr.write(f"\r{line}\x1b[K", ending="")
            self.stderr.flush()
            self._open_line = True
        else:
            self._say(line)

    def _say(self, line: str) -> None:
        if self._open_line:
            self.stderr.write("")
            self._open_line = False
        self.stderr.write(line)

    def _is_terminal(self) -> bool:
        return bool(self.stderr.isatty())

    def _close(self, recorder: Recorder) -> None:
        """Print what was recorded. Raises CommandError with what could not be."""
        found = recorder.progress
        refused = {kind: why for kind, why in found.absent.items() if why != NOT_SERVED}
        for kind, why in sorted(refused.items()):
            self._say(f"{kind}: not recorded: {why}")
        for kind, why in sorted(found.lost.items()):
            self._say(f"{kind}: not recorded to the end: {why}")
        if found.unlisted:
            kinds = ", ".join(sorted(found.unlisted))
            self._say(
                f"stopped before the first lists of {kinds} were complete: begin again "
                "on the same file, for longer; what is there is kept"
            )
        self.stdout.write(
            f"{recorder.file.path}: {found.kinds} kinds, {found.entries['LISTED']} "
            f"objects, {found.changes} changes"
        )
        if refused:
            raise CommandError(
                f"{', '.join(sorted(refused))} could not be read: the recording lacks "
                "them; give the role that --print-role prints, and record again"
            )


def _cluster(options: dict[str, Any]) -> Cluster:
    if options["in_cluster"]:
        return Cluster.of_pod()
    return Cluster.of_kubeconfig(options["kubeconfig"], options["context"])


def _seconds(text: str) -> float:
    """Return the seconds of a time above 0; ArgumentTypeError says what one is."""
    try:
        seconds = milliseconds(text) / 1000
    except SchedulerError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"expected a time above 0, got {text!r}")
    return seconds


def _key(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) < 32:
        raise CommandError(
            f"{path}: expected a key of at least 32 bytes, got {len(key)}; "
            f"make one: head -c 32 /dev/urandom > {path}"
        )
    return key
