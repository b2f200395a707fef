"""Single fields of a document: what they must be, or the error that says where."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.model import amounts, schemas
from scheduler.model.errors import ManifestError, QuantityError
from scheduler.model.problems import Form, Wanted, expected
from scheduler.model.schemas.faults import OF_MAP, Unmet, What, faults_of, fill
from scheduler.model.sentence import Sentence, Stated


def _value(holder: dict[str, Any], path: str) -> Any:
    return holder.get(path.rsplit(".", 1)[-1])


def expect_object(
    document: Document, holder: dict[str, Any], path: str, *, needed: bool = False
) -> dict[str, Any]:
    """Return the object at the end of `path`; absent is empty unless needed."""
    value = _value(holder, path)
    if value is None and not needed:
        return {}
    if not isinstance(value, dict):
        raise document.error(path, expected(Wanted.OBJECT, given=f"{value!r:.60}"))
    return value


def expect_items(
    document: Document, holder: dict[str, Any], path: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (path, object) of each entry of a list; an absent list is empty."""
    value = _value(holder, path)
    if value is None:
        return
    if not isinstance(value, list):
        raise document.error(path, expected(Wanted.LIST, given=f"{value!r:.60}"))
    for index, item in enumerate(value):
        where = f"{path}[{index}]"
        if not isinstance(item, dict):
            raise document.error(where, expected(Wanted.OBJECT, given=f"{item!r:.60}"))
        yield where, item


def expect_text(document: Document, holder: dict[str, Any], path: str) -> str:
    """Return a text that is not empty."""
    value = _value(holder, path)
    if not isinstance(value, str) or not value:
        raise document.error(path, expected(Wanted.TEXT, given=f"{value!r:.60}"))
    return value


def expect_choice(
    document: Document, holder: dict[str, Any], path: str, choices: Sequence[str]
) -> str:
    """Return one of the choices."""
    value = _value(holder, path)
    if value not in choices:
        known = ", ".join(choices)
        raise document.error(
            path, expected(Wanted.ONE_OF.said(known=known), given=f"{value!r:.60}")
        )
    return str(value)


def expect_whole(
    document: Document,
    holder: dict[str, Any],
    path: str,
    *,
    least: int,
    default: int | None = None,
) -> int:
    """Return a whole number of 64 bits; absent is the default, if there is one."""
    value = _value(holder, path)
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise document.error(path, expected(Wanted.WHOLE, given=f"{value!r:.60}"))
    if not least <= value <= amounts.MAX:
        raise document.error(
            path, expected(Wanted.AT_LEAST.said(least=least), given=value)
        )
    return value


def expect_amounts(
    document: Document, holder: dict[str, Any], path: str
) -> dict[str, int]:
    """Return an object of resource quantities, canonical; none may be negative."""
    return {
        name: expect_amount(document, name, text, f"{path}.{name}")
        for name, text in expect_object(document, holder, path).items()
    }


def expect_amount(document: Document, name: str, text: Any, path: str) -> int:
    """Return a quantity of a resource, canonical; it may not be negative."""
    try:
        found = amounts.canonical(name, text)
    except QuantityError as error:
        raise document.error(path, error.said) from error
    if found < 0:
        raise document.error(path, expected(Wanted.NO_NEGATIVE_AMOUNT, text))
    return found


# ------------------------------------------------------------------------
# Fields that a kind does not have: most are typing errors, so they are refused.


def expect_known(
    document: Document, holder: dict[str, Any], path: str, known: Sequence[str]
) -> None:
    """Refuse a field that is not one of `known`; suggests the nearest.

    Raises ManifestError naming the first.
    """
    unknown = [str(name) for name in holder if name not in known]
    if unknown:
        raise unknown_field(document, path, unknown, known)


def unknown_field(
    document: Document, path: str, unknown: Sequence[str], known: Sequence[str]
) -> ManifestError:
    """Return the error about the first field that an object at `path` does not have."""
    near = difflib.get_close_matches(unknown[0], known, n=1)
    names = ", ".join(sorted(known))
    problem = Form.UNKNOWN.said(known=names)
    if near:
        problem = Form.UNKNOWN_NEAR.said(known=names, near=near[0])
    return document.error(f"{path}.{unknown[0]}" if path else unknown[0], problem)


def expect_texts(document: Document, holder: dict[str, Any], path: str) -> list[str]:
    """Return a list of texts; absent is empty."""
    given = holder.get(path.rsplit(".", 1)[-1])
    if given is None:
        return []
    if not isinstance(given, list):
        raise document.error(path, expected(Wanted.LIST, given=f"{given!r:.60}"))
    for index, item in enumerate(given):
        if not isinstance(item, str) or not item:
            raise document.error(
                f"{path}[{index}]", expected(Wanted.TEXT, given=f"{item!r:.60}")
            )
    return given


def expect_labels(document: Document, holder: dict[str, Any], path: str) -> None:
    """Check an object of texts; absent is empty."""
    given = holder.get(path.rsplit(".", 1)[-1])
    if given is None:
        return
    if not isinstance(given, dict):
        raise document.error(
            path, expected(Wanted.OBJECT_OF_TEXTS, given=f"{given!r:.60}")
        )
    for name, value in given.items():
        if not isinstance(value, str):
            raise document.error(
                f"{path}.{name}", expected(Wanted.QUOTED, given=f"{value!r:.60}")
            )


def expect_optional_text(document: Document, holder: dict[str, Any], path: str) -> str:
    """Return a text; absent is empty."""
    value = holder.get(path.rsplit(".", 1)[-1])
    if value is None:
        return ""
    if not isinstance(value, str):
        raise document.error(path, expected(Wanted.TEXT, given=f"{value!r:.60}"))
    return value


def expect_flag(
    document: Document, holder: dict[str, Any], path: str, *, default: bool
) -> bool:
    """Return true or false; absent is the default."""
    value = holder.get(path.rsplit(".", 1)[-1])
    if value is None:
        return default
    if not isinstance(value, bool):
        raise document.error(path, expected(Wanted.FLAG, given=f"{value!r:.60}"))
    return value


# ------------------------------------------------------------------------
# What a kind's schema refuses, said with its line; and the defaults it writes out.


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


def check_structure(document: Document, type_: str) -> list[Unmet]:
    """Refuse a text, number or list where the type has an object, map or list.

    Raises ManifestError naming the first such field; returns what else the type forbids,
    for `check_values`. `metadata` and `status` are left to their own check, names that
    the type does not have to their own finding. Cost: that of the fields given.
    """
    found = faults_of(document.data, type_, leave=_HEAD, texts=False, built_in=True)
    for fault in filter(Unmet.is_misplaced, found):
        raise _error(document, fault, ())
    left = {What.UNKNOWN}
    if type_.startswith(schemas.KUEUE):
        left.add(What.REQUIRED)  # its own check says what it cannot do without
    return [one for one in found if one.what not in left and not _usual(one)]


def check_values(document: Document, found: list[Unmet]) -> None:
    """Refuse the first of what `check_structure` found. Raises ManifestError."""
    for fault in found:
        raise _error(document, fault, ())


def check_patch(
    document: Document, holder: dict[str, Any], path: str, type_: str
) -> None:
    """Refuse what a merge patch at `path` would make of an object of the type.

    Raises ManifestError naming the first field that the type forbids, or needs and the
    patch takes away. What an object has beside the patch is not known here.
    """
    patch = expect_object(document, holder, path)
    if "spec" in patch and patch["spec"] is None:
        raise document.error(f"{path}.spec", expected(Wanted.OBJECT, given="None"))
    found = faults_of(patch, type_, leave=_HEAD, texts=False, built_in=True)
    for fault in found:
        left = fault.what is What.REQUIRED and not _is_taken(patch, fault.path)
        if fault.what is not What.UNKNOWN and not left and not _usual(fault):
            raise _error(document, fault._replace(path=f"{path}.{fault.path}"), ())


def _is_taken(patch: Any, path: str) -> bool:
    """Return whether a patch replaces what holds a field, or says null of it."""
    *above, last = path.split(".")
    for name in above:
        if "[" in name:
            return True  # lists are replaced as a whole
        patch = patch[name]
    return last in patch


def _usual(fault: Unmet) -> bool:
    """Return whether a fault says nothing: a choice left empty, a selector left out."""
    if fault.what is What.REQUIRED:
        return fault.type == "meta.v1.LabelSelector"  # pods are known by their owner
    return fault.value == "" and not (fault.field.required or fault.field.pointer)


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
    "IntOrString": Wanted.SHARE,
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
        least = 0 if fault.what is What.MINIMUM else -(2**31)
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
