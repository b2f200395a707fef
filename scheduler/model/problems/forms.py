"""The forms that problems with given values are said in, in words.

The holes `what`, `rest` and `wanted` hold sentences; `wanted` is one of `wanted.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.model.sentence import Sentence, Stated


class Form(Stated, prefix="form"):
    """How it is said that a value is not what was expected, and of what field."""

    PLACED = "{what} - at `{path}`"
    GOT_NONE = "expected {wanted}, got none"
    FOUND_NONE = "expected {wanted}, found none"
    FOUND_NOTHING = "expected {wanted}, found nothing"
    GOT_NEITHER = "expected {wanted}, got neither"
    FOUND_NEITHER = "expected {wanted}, found neither"
    GOT_BOTH = "expected {wanted}, got both"
    GOT = "expected {wanted}, got {given}"
    EXPECTED = "expected {wanted}"
    RAW_GOT = "Expected {wanted}, got {given}"
    RAW = "Expected {wanted}"
    RAW_MISSING = "Object missing required field `{name}`"
    RAW_UNEXPECTED = "Object contains unknown field `{name}`"
    RAW_ENUMERATION = "Invalid enum value {given}"
    UNEXPECTED = "object contains unknown field {name}"
    ENUMERATION = "invalid enum value {given}"
    MISSING = "object missing required field {name}"
    UNKNOWN_NEAR = "unknown field; known: {known}; did you mean {near}?"
    UNKNOWN = "unknown field; known: {known}"
    UNKNOWN_KEY = "unknown key; known: {known}"
    NEAR_KEY = "unknown key; did you mean {near}?; known: {known}"
    NEAR_PARAMETER = "unknown parameter; did you mean {near}?; known: {known}"
    UNKNOWN_PARAMETER = "unknown parameter; known: {known}"
    ONLY_KEY = "unknown key {key}"
    THIS_KEY = "unknown key {name}; known: {known}"
    THIS_ANNOTATION = "unknown annotation {name}; known: {known}"
    NO_SUCH_FIELD = "no such field; known: {known}"
    KIND_OF_NEAR = "unknown kind {name} of group {group}; did you mean {near}?"
    KIND_OF = "unknown kind {name} of group {group}"
    KIND = "unknown kind {name}"
    UNKNOWN_NAME = "unknown {family} {name}; known: {known}"
    NOT_AMONG = "there is no {kind} {name}; there are: {known}"
    ABSENT = "there is no {kind} {name}"
    NOT_IN_BASE = "{key} is not in the base"
    WORLD_FULL = "{key} would be one more object than {most}, as many as a world may hold (OBJECTS_PER_SANDBOX of a server); delete some, or let fewer pods come"
    NOT_IN_WORLD = "{key} is not in this world"
    TWICE = "{name} is given twice"
    NAMED_TWICE = "{name} is named twice"
    ENABLED_TWICE = "plugin {name} is enabled twice"
    CONFIGURED_TWICE = "plugin {name} is configured twice"
    NOT_A_TIME = "not a time that exists: {given}"
    NOT_A_NAME = "not a name: {given}"
    NOT_A_SPELLING = (
        "not a name: {given}: an API server takes lower-case letters, digits, - and ., "
        "each part between points beginning and ending with a letter or digit"
    )
    NOT_A_NAMESPACE_NAME = (
        "not a name: {given}: an API server takes up to 63 lower-case letters, digits "
        "and -, the first and the last no -"
    )
    NOT_A_NAMESPACE = (
        "not a namespace: {given}: an API server takes up to 63 lower-case letters, "
        "digits and -, the first and the last no -"
    )
    TOO_MUCH = (
        "refused: {problem}; split the file or ask the operator for a higher limit"
    )
    AT = "{field}: {what}"


def in_field(field: object, what: Sentence) -> Sentence:
    """Return the faults of a field, as "field: what"."""
    place = str(field)
    text = f"{place}: {what.text}"
    return Sentence(Form.AT.value, text, {"field": place, "what": what})


def parted(said: Sentence) -> tuple[str, Sentence]:
    """Return the field that a sentence begins with, "" for none, and what is wrong."""
    if said.code == Form.AT.value:
        return said.holes["field"], said.holes["what"]
    return "", said


def expected(wanted: Sentence | Stated, *got: object, given: object = None) -> Sentence:
    """Return "expected wanted", and of what was got its repr, or what is `given`.

    "expected a number, got 'x'" is of `expected(Wanted.NUMBER, "x")`.
    """
    if got:
        given = repr(got[0])
    if given is None:
        return Form.EXPECTED.said(wanted=wanted)
    return Form.GOT.said(wanted=wanted, given=given)


class Several(Stated, prefix="form"):
    """Problems in a row."""

    BOTH = "{what}; {rest}"


def joined(found: Sequence[Sentence]) -> Sentence:
    """Return problems in a row, "one; the next"; there is at least one."""
    *before, said = found
    for one in reversed(before):
        said = Several.BOTH.said(what=one, rest=said)
    return said


class Checked(Stated, prefix="checked"):
    """What the checks of a REST body say of a value."""

    REQUIRED = "This field is required."
    NULL = "This field may not be null."
    BLANK = "This field may not be blank."
    CHOICE = '"{given}" is not a valid choice.'
    TEXT = "Not a valid string."
    WHOLE = "A valid integer is required."
    NUMBER = "A valid number is required."
    ITEMS = 'Expected a list of items but got type "{given}".'
    ENTRIES = 'Expected a dictionary of items but got type "{given}".'
    OBJECT = "Invalid data. Expected a dictionary, but got {given}."
    LONG = "Ensure this field has no more than {most} characters."
    MANY = "Ensure this field has no more than {most} elements."
    FEW = "Ensure this field has at least {least} elements."
    EMPTY = "This list may not be empty."
    NUL = "Null characters are not allowed."
    JSON = "JSON parse error - {problem}"
    SIGN_IN = "Authentication credentials were not provided."
    TOKEN = "this token is unknown, revoked or expired"
    PERMISSION = "You do not have permission to perform this action."
    METHOD = 'Method "{given}" not allowed.'
    MEDIA = 'Unsupported media type "{given}" in request.'
    NESTED = "nested beyond reading"
    SLOWER = "Request was throttled. Expected available in {seconds} second."
    SLOWER_MANY = "Request was throttled. Expected available in {seconds} seconds."
    DISK = "the disk of the database is full; reading works, try again later"
    READING = "the database takes no changes now; reading works, try again later"
    DATABASE = "the database does not answer; try again"
