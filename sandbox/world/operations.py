"""What can be done to a world: one class each, enough to do it again.

A run is (initial state, policy, seed, operations): the same operations on
the same world give the same world, in any process and at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from sandbox.page.rows.transport import POLICY_KEY
from sandbox.world.extenders import ExtenderAnswer, answering
from sandbox.world.seen import unpack
from scheduler.engine.kube.extender.ports import Port
from scheduler.engine.tick import react, run_tick, settle
from scheduler.engine.world import World
from scheduler.model.event_words import node_lost
from scheduler.model.objects import Key, Object, stored_key
from scheduler.model.policy import read_policy
from scheduler.model.sentence import plain
from scheduler.recorded.twin.observing import observe

#: What an edit that takes the pods off a node keeps as its reason -> that, said.
_WHY = {said.text: said for said in map(node_lost, ("drain", "fail"))}


class Operation(msgspec.Struct, frozen=True, tag_field="do", omit_defaults=True):
    """The base of all."""


class Begin(Operation, frozen=True, tag="begin"):
    """The first state of a sandbox or a fork; its checkpoint holds it."""


class Tick(Operation, frozen=True, tag="tick"):
    """One step of virtual time, and what extenders answered in it."""

    answers: list[ExtenderAnswer] = []


class Observe(Operation, frozen=True, tag="observe"):
    """A tick of a real cluster: what was seen in it; nothing is decided."""

    tick: int
    now_ms: int
    seen: bytes = b""  # as `sandbox.world.seen` packs it
    listed: bool = False  # what stood when following began: nothing was decided then


class Put(Operation, frozen=True, tag="put"):
    """Create or change objects; given statuses are believed (imports)."""

    manifests: list[dict[str, Any]]
    statuses: dict[str, dict[str, Any]] = {}  # key text -> status


class Delete(Operation, frozen=True, tag="delete"):
    """Remove objects."""

    keys: list[tuple[str, str, str]]


class Lose(Operation, frozen=True, tag="lose"):
    """Take every pod off a node; what replaces them is their owners' to say."""

    node: str
    why: str


class Settle(Operation, frozen=True, tag="settle"):
    """Let the schedulers handle the present instant before the edit goes on."""

    answers: list[ExtenderAnswer] = []


class SetPolicy(Operation, frozen=True, tag="policy"):
    """Go on under another policy."""

    document: dict[str, Any]


Part = Put | Delete | SetPolicy | Lose | Settle


class Several(Operation, frozen=True, tag="several"):
    """Some of the above, in order, as one edit."""

    parts: list[Part]


class Transport(Operation, frozen=True, tag="transport"):
    """Play, pause, speed: nothing in the world changes."""


class Rewind(Operation, frozen=True, tag="rewind"):
    """Go on from an earlier revision; what came after lives in a fork."""

    revision: int


class Undo(Operation, frozen=True, tag="undo"):
    """Run again without the edit of this revision."""

    revision: int


class Redo(Operation, frozen=True, tag="redo"):
    """Run again with the edit of this revision, in its place."""

    revision: int


AnyOperation = (
    Begin
    | Tick
    | Observe
    | Put
    | Delete
    | SetPolicy
    | Lose
    | Settle
    | Several
    | Transport
    | Rewind
    | Undo
    | Redo
)
Edit = Part | Several
_PARTS = (Put, Delete, SetPolicy, Lose, Settle)


def subjects_of(operation: AnyOperation) -> Iterator[str]:
    """Yield the keys of the objects that an edit changes itself, and the policy's."""
    match operation:
        case Put(manifests=manifests):
            yield from (str(stored_key(manifest)) for manifest in manifests)
        case Delete(keys=keys):
            yield from (str(Key(*key)) for key in keys)
        case Lose(node=node):
            yield str(Key("Node", "", node))
        case SetPolicy():
            yield POLICY_KEY
        case Several(parts=parts):
            for part in parts:
                yield from subjects_of(part)
        case _:
            return


def to_document(operation: AnyOperation) -> dict[str, Any]:
    """Return the operation as a plain document, for storing."""
    document: dict[str, Any] = msgspec.to_builtins(operation)
    return document


def from_document(document: dict[str, Any]) -> AnyOperation:
    """Return the operation that `to_document` wrote."""
    operation: AnyOperation = msgspec.convert(document, AnyOperation)
    return operation


def perform(
    world: World, operation: AnyOperation, *, live: Port | None = None
) -> AnyOperation:
    """Do it to the world. Rewind, Undo and Redo are whole worlds: see history.py.

    With `live` extenders may be asked what they have not answered yet. Returns
    the operation with all of their answers: doing that again asks nobody.
    Raises SchedulerError when the world refuses; it may then be half changed,
    and whoever holds it throws it away.
    """
    match operation:
        case Tick(answers=answers):
            with answering(world, answers, live) as given:
                run_tick(world)
            return Tick(answers=given)
        case Observe(tick=tick, now_ms=now_ms, seen=body, listed=listed):
            for problem in observe(world, unpack(body), tick=tick, now_ms=now_ms):
                world.context.journal.complain(plain(problem))
            if listed:
                world.context.journal.take_decisions()
        case Settle(answers=answers):
            with answering(world, answers, live) as given:
                settle(world)
            return Settle(answers=given)
        case Put(manifests=manifests, statuses=statuses):
            for manifest in manifests:
                key = stored_key(manifest)
                # The world fills in and keeps what it is given, so it gets its own copy.
                own = msgspec.to_builtins(manifest)
                status = msgspec.to_builtins(statuses.get(str(key), {}))
                world.put(Object(key=key, manifest=own, status=status))
                world.finish_as_reported(key, status)
        case Delete(keys=keys):
            for names in keys:
                world.delete(Key(*names))
        case Lose(node=node, why=why):
            world.lose_node(node, _WHY.get(why) or plain(why))
            react(world)
        case SetPolicy(document=document):
            world.set_policy(read_policy(document))
        case Several(parts=parts):
            done = [perform(world, part, live=live) for part in parts]
            return Several(parts=[part for part in done if isinstance(part, _PARTS)])
        case Transport():
            pass
        case Begin() | Rewind() | Undo() | Redo():
            raise TypeError(f"{type(operation).__name__} is not done to one world")
    return operation
