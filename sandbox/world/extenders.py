"""Extenders of a sandbox: asked once, and answered the same ever after.

What an extender answers is stored with the operation that asked. Doing the
operation again (rewind, fork, another process) gives the stored answer to the
same question and calls nobody.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from django.conf import settings

from sandbox.world.webhooks import Allowed, HttpPort, NotAllowedError
from scheduler.engine.kube.extender.ports import ExtenderError, Port
from scheduler.engine.world import World
from scheduler.model.kube.configuration import Extender
from scheduler.model.sentence import plain

_encode = msgspec.json.Encoder(order="sorted").encode

ExtenderAnswer = tuple[str, Any]  # digest of a question, its answer
_FAILED = "failed"


def live() -> Port:
    """Return the port that asks the addresses which the operator allows."""
    return HttpPort(Allowed(settings.EXTENDERS))


def has_extenders(world: World) -> bool:
    """Return whether a scheduler of the world asks extenders."""
    kube = world.kube
    return kube is not None and any(p.extenders.extenders for p in kube.schedulers)


class UnreachablePort:
    """Answers nothing: what is done again has its answers already."""

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Refuse."""
        raise ExtenderError(
            f"extender {extender.url_prefix}: no answer to this question is stored"
        )


class RecordingPort:
    """Stored answers first, then those of `beyond`, which are kept.

    `answers` is what was given in order; the same question asked twice gets the
    answers in the order in which they came.
    """

    def __init__(
        self, world: World, stored: Sequence[ExtenderAnswer], beyond: Port
    ) -> None:
        assert world.kube is not None, "extenders belong to kube-scheduler"
        self._policy = world.kube.port
        self._by_policy = {
            answers.url_prefix for answers in world.policy.spec.simulation.extenders
        }
        self._world = world
        self._beyond = beyond
        self._stored: dict[str, deque[Any]] = {}
        for digest, answer in stored:
            self._stored.setdefault(digest, deque()).append(answer)
        self.answers: list[ExtenderAnswer] = list(stored)

    def states(self, url_prefix: str) -> bool:
        """Return whether the policy states the answers of this address."""
        return url_prefix in self._by_policy

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Return the answer; a stored failure is raised again."""
        if extender.url_prefix in self._by_policy:
            return self._policy.call(extender, verb, payload)
        digest = _digest(extender, verb, payload)
        known = self._stored.get(digest)
        answer = (
            known.popleft() if known else self._ask(digest, extender, verb, payload)
        )
        if isinstance(answer, dict) and set(answer) == {_FAILED}:
            raise ExtenderError(answer[_FAILED])
        return answer

    def _ask(
        self, digest: str, extender: Extender, verb: str, payload: dict[str, Any]
    ) -> Any:
        try:
            answer = self._beyond.call(extender, verb, payload)
        except ExtenderError as problem:
            answer = {_FAILED: str(problem)}
            if isinstance(problem, NotAllowedError):
                self._world.context.journal.complain(plain(problem))
        if not isinstance(self._beyond, UnreachablePort):
            self.answers.append((digest, answer))
        return answer


def _digest(extender: Extender, verb: str, payload: dict[str, Any]) -> str:
    question = _encode([extender.url_prefix, verb, payload])
    return hashlib.sha256(question).hexdigest()[:24]


@contextmanager
def answering(
    world: World, stored: Sequence[ExtenderAnswer], beyond: Port | None
) -> Iterator[list[ExtenderAnswer]]:
    """Let the world's extenders answer in the block; yields what they answered."""
    kube = world.kube
    if kube is None or not has_extenders(world):
        yield list(stored)
        return
    port = RecordingPort(world, stored, beyond or UnreachablePort())
    before = kube.port
    kube.use(port)
    try:
        yield port.answers
    finally:
        kube.use(before)
