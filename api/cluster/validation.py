"""Fields that an object's kind does not have, as `fieldValidation` asks about them.

Source: <https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation>
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rest_framework.request import Request

from api.cluster import refusals
from api.cluster.checks.decoding import unknown_fields
from api.views.base import flag
from scheduler.input.manifests.kinds import split
from scheduler.input.manifests.known_fields.finding import walk
from scheduler.model import schemas

CHOICES = ("Strict", "Warn", "Ignore")


def asked(request: Request) -> str:
    """Return what a write asks for; Warn is what a server does unasked.

    Raises RefusalError for what is none of CHOICES.
    """
    given: str = request.query_params.get("fieldValidation") or "Warn"
    if given not in CHOICES:
        known = '"", "Ignore", "Strict", "Warn"'
        why = f'Unsupported value: "{given[:40]}": supported values: {known}'
        fault = refusals.Fault("fieldValidation", why)
        raise refusals.invalid_options(options_of(request), [fault])
    return given


def options_of(request: Request) -> str:
    """Return the kind of the options of a write."""
    kinds = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}
    return kinds.get(request.method or "", "DeleteOptions")


def is_dry(request: Request) -> bool:
    """Return whether a write is only tried. Raises RefusalError for another word."""
    given: str = request.query_params.get("dryRun") or ""
    if given.lower() not in ("", "all", "true", "false", "1", "0", "yes", "no", "none"):
        why = f'Unsupported value: ["{given[:40]}"]: supported values: "All"'
        fault = refusals.Fault("dryRun", why)
        raise refusals.invalid_options(options_of(request), [fault])
    return flag(request, "dryRun")


def warnings_of(
    document: Mapping[str, Any],
    choice: str,
    *,
    known: Mapping[str, Any] | None = None,
    twice: Sequence[str] = (),
) -> list[str]:
    """Return a warning per field that its kind does not have, or that came `twice`.

    `known` is the object as it was: what it had is no news. Raises
    UndecodableError naming every field where the write is Strict.
    """
    if choice == "Ignore":
        return []
    before = set() if known is None else set(_unknown(known))
    found = [f'duplicate field "{field}"' for field in twice]
    found += [
        f'unknown field "{field}"'
        for field in _unknown(document)
        if field not in before
    ]
    if found and choice == "Strict":
        raise strictly(found, document)
    return found


def strictly(
    found: list[str], document: Mapping[str, Any]
) -> refusals.UndecodableError:
    """Return how a write that is Strict is refused."""
    said = f"strict decoding error: {', '.join(found)}"
    version = split(str(document.get("apiVersion") or ""))[1]
    return refusals.UndecodableError(str(document.get("kind")), version, said)


def _unknown(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield what the kind does not have: by its published type, else by what is read."""
    group, version = split(str(document.get("apiVersion") or ""))
    type_ = schemas.named(group, version, str(document.get("kind") or ""))
    if type_:
        yield from unknown_fields(document, type_)
    else:
        yield from (path for path, _ in walk(document).unknown_fields)
