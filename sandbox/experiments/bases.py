"""Where an experiment begins, as bytes to keep and as something that begins runs."""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from collections.abc import Mapping

import msgspec
from django.contrib.auth.models import User

from sandbox.base import library
from sandbox.base.errors import NotFoundError
from sandbox.base.refusals import Absent
from sandbox.models import Experiment, Sandbox
from sandbox.whatifs.asking import find
from sandbox.whatifs.changes import operation_of
from sandbox.world import history, operations, worlds
from scheduler.analysis.experiments.bases import FileBase, RunBase, WorldBase
from scheduler.analysis.experiments.document import Base, ExperimentError
from scheduler.model.policy import Stack
from scheduler.model.problems import Form

_LEVEL = 1
_encode = msgspec.msgpack.Encoder().encode
_decode_files = msgspec.msgpack.Decoder(list[tuple[str, str]]).decode

#: Bases that one process keeps ready, newest used last.
MOST_KEPT = 4


def packed_base(user: User, given: Base, files: Mapping[str, str]) -> tuple[str, bytes]:
    """Return the base that a document names as it is stored: its kind and its bytes.

    Raises NotFoundError for a sandbox that `user` may not fork and for a what-if that
    does not exist, ExperimentError for a file that did not come along, and InvalidError
    for changes that cannot be made.
    """
    if given.sandbox:
        return Experiment.WORLD, zlib.compress(_world(user, given), _LEVEL)
    if given.scenario:
        sources = library.files_of(given.scenario)
    else:
        sources = [(name, _file(name, files)) for name in given.files]
    return Experiment.FILES, zlib.compress(_encode(sources), _LEVEL)


def _file(name: str, files: Mapping[str, str]) -> str:
    if name not in files:
        raise ExperimentError(
            Form.ABSENT.said(kind="file", name=repr(name)), "spec.base.files"
        )
    return files[name]


def _world(user: User, given: Base) -> bytes:
    sandbox = Sandbox.objects.forkable_by(user).filter(pk=given.sandbox).first()
    if sandbox is None:
        raise NotFoundError(Absent.SANDBOX.said(sandbox=given.sandbox))
    if given.what_if is not None:
        # The world of the what-if at its tick, with its changes made.
        row = find(sandbox, given.what_if)
        world = history.world_at(sandbox, row.revision)
        operations.perform(world, operation_of(world, row.changes))
        return world.encode()
    if given.tick is None:
        return worlds.copy_of(sandbox.pk)[0].encode()
    revision = history.revision_at(sandbox, given.tick)
    return history.world_at(sandbox, revision).encode()


def open_base(kind: str, body: bytes, stack: Stack | None = None) -> RunBase:
    """Return the base that `packed_base` made bytes of; `stack` is the document's."""
    data = zlib.decompress(body)
    if kind == Experiment.WORLD:
        return WorldBase(data)
    return FileBase.read(_decode_files(data), stack=stack)


class _BaseCache:
    """Bases by experiment; reading files takes longer than a small run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bases: OrderedDict[str, RunBase] = OrderedDict()

    def get(self, experiment_id: str) -> RunBase:
        """Return the experiment's base. Asks the database once."""
        with self._lock:
            base = self._bases.get(experiment_id)
            if base is None:
                columns = ("base_kind", "base", "document")
                kind, body, document = Experiment.objects.values_list(*columns).get(
                    pk=experiment_id
                )
                stack = document["spec"]["base"].get("stack")
                base = self._bases[experiment_id] = open_base(kind, bytes(body), stack)
            self._bases.move_to_end(experiment_id)
            while len(self._bases) > MOST_KEPT:
                self._bases.popitem(last=False)
            return base


base_of = _BaseCache().get
