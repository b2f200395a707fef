"""Errors as data: a worker writes what a web process raises again."""

from __future__ import annotations

from typing import Any, NoReturn

import msgspec

from sandbox.base import errors
from sandbox.base.errors import Cause, GivenUpError, SandboxError, TooManyError
from scheduler.model.errors import SchedulerError
from scheduler.model.sentence import Sentence, plain


def document_of(error: Exception) -> dict[str, Any]:
    """Return an error as plain data; of a defect its class and message."""
    if isinstance(error, SandboxError):
        kind = type(error).__name__
        if getattr(errors, kind, None) is not type(error):
            kind = SandboxError.__name__
        return {
            "kind": kind,
            "said": msgspec.to_builtins(error.said),
            "causes": msgspec.to_builtins(error.causes),
        }
    if isinstance(error, SchedulerError):
        kind = SchedulerError.__name__
        return {"kind": kind, "said": msgspec.to_builtins(error.said)}
    said = plain(f"{type(error).__name__}: {error}"[:4000])
    return {"kind": GivenUpError.__name__, "said": msgspec.to_builtins(said)}


def raise_again(document: dict[str, Any]) -> NoReturn:
    """Raise the error that a worker wrote."""
    kind = document["kind"]
    said = msgspec.convert(document["said"], Sentence)
    if kind == SchedulerError.__name__:
        raise SchedulerError(said)
    causes = msgspec.convert(document.get("causes", ()), tuple[Cause, ...])
    found: type[SandboxError] = getattr(errors, kind)
    if issubclass(found, TooManyError):
        raise TooManyError(said, wait=1.0)
    raise found(said, causes=causes)
