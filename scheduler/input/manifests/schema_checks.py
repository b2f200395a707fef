"""What a kind's schema refuses, said with its line; and the defaults it writes out.

Source: docs/semantics/kueue.md#defaults-and-validation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.strict import unknown_field
from scheduler.model import amounts, schemas
from scheduler.model.errors import ManifestError, QuantityError
from scheduler.model.problems import Form, Wanted, expected
from scheduler.model.schemas.defaults import fill
from scheduler.model.schemas.faults import OF_MAP, Unmet, What, faults_of
from scheduler.model.sentence import Sentence, Stated

#: Of every object: checked with the object itself, or by its shape.
_HEAD = frozenset({"apiVersion", "kind", "metadata", "status"})
#: The choices of the field at a path that plug-ins may add to; none of another.
Choices = Callable[[str], Sequence[str]]


def check_fields(document: Document, type_: str, choices: Choices) -> None:
    """Check what a document gives of its type.

    Raises ManifestError naming the first field that the schema does not have, else the
    first that it refuses. How names are spelled is left to an API server: no decision
    depends on it.
    """
    found = faults_of(document.data, type_, leave=_HEAD, texts=False)
    for fault in sorted(found, key=lambda one: one.what is not What.UNKNOWN):
        more = choices(fault.path)
        if fault.what is not What.ENUM or fault.value not in more:
            raise _error(document, fault, more)


def with_defaults(document: Document, type_: str) -> dict[str, Any]:
    """Return a copy of a document with what the API server writes out."""
    manifest = document.copied()
    fill(manifest, type_)
    return manifest


def _error(document: Document, fault: Unmet, choices: Sequence[str]) -> ManifestError:
    if fault.what is What.UNKNOWN:
        known = [name for name in schemas.fields_of(fault.type) if name]
        return unknown_field(document, fault.path, fault.value, known)
    if (enum := choices or fault.field.enum) is not None:
        wanted = Wanted.ONE_OF.said(known=", ".join(filter(None, enum)))
        return document.error(fault.path, expected(wanted, given=_shown(fault.value)))
    return document.error(fault.path, _SAID[fault.what](fault))


def _shown(value: Any) -> str:
    return f"{value!r:.60}"


#: What a value of a type has to be; of all others an object.
_WANTED: dict[str, Wanted] = {
    "string": Wanted.TEXT,
    "Time": Wanted.TEXT,
    "int32": Wanted.WHOLE,
    "int64": Wanted.WHOLE,
    "bool": Wanted.FLAG,
    "Quantity": Wanted.QUANTITY,
    "map string": Wanted.OBJECT_OF_TEXTS,
}


def _typed(fault: Unmet) -> Sentence:
    wanted: Stated = _WANTED.get(fault.type, Wanted.OBJECT)
    if fault.type.startswith("[]"):
        wanted = Wanted.LIST
    elif fault.field is OF_MAP and fault.type == "string":
        wanted = Wanted.QUOTED
    return expected(wanted, given=_shown(fault.value))


def _missing(fault: Unmet) -> Sentence:
    if fault.field.min_items is not None:
        return _counted(fault)
    if fault.type == "Quantity":
        return Form.GOT_NONE.said(wanted=Wanted.QUANTITY)
    return _typed(fault)


def _counted(fault: Unmet) -> Sentence:
    name = fault.path.rpartition(".")[2]
    least, most = str(fault.field.min_items or 0), str(fault.field.max_items)
    wanted = Wanted.COUNTED.said(least=least, most=most, kind=name)
    return expected(wanted, given=len(fault.value or ()))


def _amount(fault: Unmet) -> Sentence:
    try:
        amounts.parse(fault.value)
    except QuantityError as error:
        return error.said
    return _typed(fault)


def _in_range(fault: Unmet) -> Sentence:
    if (least := fault.field.minimum) is None and fault.value < 0:
        least = -(2**31)
    if least is not None and fault.value < least:
        return expected(Wanted.AT_LEAST.said(least=least), given=fault.value)
    if (most := fault.field.maximum) is not None and fault.value > most:
        return expected(Wanted.AT_MOST.said(most=most), given=fault.value)
    return expected(Wanted.BITS_32, given=fault.value)


_SAID: dict[What, Callable[[Unmet], Sentence]] = {
    What.REQUIRED: _missing,
    What.TYPE: _typed,
    What.EMPTY: _typed,
    What.QUANTITY: _amount,
    What.MINIMUM: _in_range,
    What.MAXIMUM: _in_range,
    What.BITS: _in_range,
    What.FEW: _counted,
    What.MANY: _counted,
    What.MANY_KEYS: _counted,
}
