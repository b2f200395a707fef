"""The forms that problems with given values are said in, in words.

The holes `what`, `rest` and `wanted` hold sentences; `wanted` is one of `wanted.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.model.sentence import Sentence, Stated


class Form(Stated):
    """How it is said that a value is not what was expected, and of what field."""

    PLACED = ("form.placed", "{what} - at `{path}`")
    GOT_NONE = ("form.gotNone", "expected {wanted}, got none")
    FOUND_NONE = ("form.foundNone", "expected {wanted}, found none")
    FOUND_NOTHING = ("form.foundNothing", "expected {wanted}, found nothing")
    GOT_NEITHER = ("form.gotNeither", "expected {wanted}, got neither")
    FOUND_NEITHER = ("form.foundNeither", "expected {wanted}, found neither")
    GOT_BOTH = ("form.gotBoth", "expected {wanted}, got both")
    GOT = ("form.got", "expected {wanted}, got {given}")
    EXPECTED = ("form.expected", "expected {wanted}")
    RAW_GOT = ("form.rawGot", "Expected {wanted}, got {given}")
    RAW = ("form.raw", "Expected {wanted}")
    RAW_MISSING = ("form.rawMissing", "Object missing required field `{name}`")
    RAW_UNEXPECTED = ("form.rawUnexpected", "Object contains unknown field `{name}`")
    RAW_ENUMERATION = ("form.rawEnumeration", "Invalid enum value {given}")
    UNEXPECTED = ("form.unexpected", "object contains unknown field {name}")
    ENUMERATION = ("form.enumeration", "invalid enum value {given}")
    MISSING = ("form.missing", "object missing required field {name}")
    UNKNOWN_NEAR = (
        "form.unknownNear",
        "unknown field; known: {known}; did you mean {near}?",
    )
    UNKNOWN = ("form.unknown", "unknown field; known: {known}")
    UNKNOWN_KEY = ("form.unknownKey", "unknown key; known: {known}")
    NEAR_KEY = ("form.nearKey", "unknown key; did you mean {near}?; known: {known}")
    NEAR_PARAMETER = (
        "form.nearParameter",
        "unknown parameter; did you mean {near}?; known: {known}",
    )
    UNKNOWN_PARAMETER = ("form.unknownParameter", "unknown parameter; known: {known}")
    ONLY_KEY = ("form.onlyKey", "unknown key {key}")
    THIS_KEY = ("form.thisKey", "unknown key {name}; known: {known}")
    THIS_ANNOTATION = (
        "form.thisAnnotation",
        "unknown annotation {name}; known: {known}",
    )
    NO_SUCH_FIELD = ("form.noSuchField", "no such field; known: {known}")
    KIND_OF_NEAR = (
        "form.kindOfNear",
        "unknown kind {name} of group {group}; did you mean {near}?",
    )
    KIND_OF = ("form.kindOf", "unknown kind {name} of group {group}")
    KIND = ("form.kind", "unknown kind {name}")
    UNKNOWN_NAME = ("form.unknownName", "unknown {family} {name}; known: {known}")
    NOT_AMONG = ("form.notAmong", "there is no {kind} {name}; there are: {known}")
    ABSENT = ("form.absent", "there is no {kind} {name}")
    NOT_IN_BASE = ("form.notInBase", "{key} is not in the base")
    WORLD_FULL = (
        "form.worldFull",
        "{key} would be one more object than {most}, as many as a world may hold (OBJECTS_PER_SANDBOX of a server); delete some, or let fewer pods come",
    )
    NOT_IN_WORLD = ("form.notInWorld", "{key} is not in this world")
    TWICE = ("form.twice", "{name} is given twice")
    NAMED_TWICE = ("form.namedTwice", "{name} is named twice")
    ENABLED_TWICE = ("form.enabledTwice", "plugin {name} is enabled twice")
    CONFIGURED_TWICE = ("form.configuredTwice", "plugin {name} is configured twice")
    NOT_A_TIME = ("form.notATime", "not a time that exists: {given}")
    NOT_A_NAME = ("form.notAName", "not a name: {given}")
    NOT_A_SPELLING = (
        "form.notASpelling",
        "not a name: {given}: an API server takes lower-case letters, digits, - and ., "
        "each part between points beginning and ending with a letter or digit",
    )
    NOT_A_NAMESPACE_NAME = (
        "form.notANamespaceName",
        "not a name: {given}: an API server takes up to 63 lower-case letters, digits "
        "and -, the first and the last no -",
    )
    NOT_A_NAMESPACE = (
        "form.notANamespace",
        "not a namespace: {given}: an API server takes up to 63 lower-case letters, "
        "digits and -, the first and the last no -",
    )
    TOO_MUCH = (
        "form.tooMuch",
        "refused: {problem}; split the file or ask the operator for a higher limit",
    )
    AT = ("form.at", "{field}: {what}")


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


class Several(Stated):
    """Problems in a row."""

    BOTH = ("form.both", "{what}; {rest}")


def joined(found: Sequence[Sentence]) -> Sentence:
    """Return problems in a row, "one; the next"; there is at least one."""
    *before, said = found
    for one in reversed(before):
        said = Several.BOTH.said(what=one, rest=said)
    return said


class Checked(Stated):
    """What the checks of a REST body say of a value."""

    REQUIRED = ("checked.required", "This field is required.")
    NULL = ("checked.null", "This field may not be null.")
    BLANK = ("checked.blank", "This field may not be blank.")
    CHOICE = ("checked.choice", '"{given}" is not a valid choice.')
    TEXT = ("checked.text", "Not a valid string.")
    WHOLE = ("checked.whole", "A valid integer is required.")
    NUMBER = ("checked.number", "A valid number is required.")
    ITEMS = ("checked.items", 'Expected a list of items but got type "{given}".')
    ENTRIES = (
        "checked.entries",
        'Expected a dictionary of items but got type "{given}".',
    )
    OBJECT = ("checked.object", "Invalid data. Expected a dictionary, but got {given}.")
    LONG = ("checked.long", "Ensure this field has no more than {most} characters.")
    MANY = ("checked.many", "Ensure this field has no more than {most} elements.")
    FEW = ("checked.few", "Ensure this field has at least {least} elements.")
    EMPTY = ("checked.empty", "This list may not be empty.")
    NUL = ("checked.nul", "Null characters are not allowed.")
    JSON = ("checked.json", "JSON parse error - {problem}")
    SIGN_IN = ("checked.signIn", "Authentication credentials were not provided.")
    TOKEN = ("checked.token", "this token is unknown, revoked or expired")
    PERMISSION = (
        "checked.permission",
        "You do not have permission to perform this action.",
    )
    METHOD = ("checked.method", 'Method "{given}" not allowed.')
    MEDIA = ("checked.media", 'Unsupported media type "{given}" in request.')
    NESTED = ("checked.nested", "nested beyond reading")
    SLOWER = (
        "checked.slower",
        "Request was throttled. Expected available in {seconds} second.",
    )
    SLOWER_MANY = (
        "checked.slowerMany",
        "Request was throttled. Expected available in {seconds} seconds.",
    )
    DISK = (
        "checked.disk",
        "the disk of the database is full; reading works, try again later",
    )
    READING = (
        "checked.reading",
        "the database takes no changes now; reading works, try again later",
    )
    DATABASE = ("checked.database", "the database does not answer; try again")
