"""What the YAML library and an API server say of a text or an object, in words."""

from __future__ import annotations

from scheduler.model.sentence import Hole, Stated


class NotYaml(Stated, prefix="yaml"):
    """Why a text is not YAML, in libyaml's words and with a hint of ours."""

    KNOWN = "not YAML: {what}"
    TABS = "{what} (a tab? YAML is indented with spaces)"
    VALUES = "mapping values are not allowed in this context"
    KEYS = "mapping keys are not allowed in this context"
    ENTRIES = "block sequence entries are not allowed in this context"
    START = "found character that cannot start any token"
    KEY = "did not find expected key"
    DASH = "did not find expected '-' indicator"
    BRACKET = "did not find expected ',' or ']'"
    BRACE = "did not find expected ',' or '}'"
    NODE = "did not find expected node content"
    DOCUMENT = "did not find expected <document start>"
    NAME = "did not find expected alphabetic or numeric character"
    COLON = "could not find expected ':'"
    ANOTHER_COLON = "found unexpected ':'"
    STREAM = "found unexpected end of stream"
    INDICATOR = "found unexpected document indicator"
    ESCAPE = "found unknown escape character"
    TAB = "found a tab character that violates indentation"
    TAB_SPACE = "found a tab character where an indentation space is expected"
    ALIAS = "found undefined alias {given}"
    TAG = "found undefined tag handle"
    CONTROL = "control characters are not allowed"
    LEADING = "invalid leading UTF-8 octet"
    TRAILING = "invalid trailing UTF-8 octet"


class ApiServer(Stated, prefix="server"):
    """What an API server answers, as kubectl shows it."""

    NOT_FOUND = '{kind} "{name}" not found'
    NO_QUEUE = "Queue not found: {name}"
    NO_APPLICATION = "Application not found: {name}"
    NO_NODE = "Node not found: {name}"


class Plain(Stated, prefix="plain"):
    """Words that stand alone in the hole of a sentence."""

    NONE = "none"
    EVERYTHING = "everything"
    NO_GROUP = "no group"
    DOCUMENT = "document"
    A_LIST = ("plain.list", "a list")
    A_TEXT = ("plain.text", "a text")
    A_NUMBER = ("plain.number", "a number")
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    NODE = "node"
    POD = "pod"
    APPLICATION = "application"


_PLAIN = {one.english: one for one in Plain}


def plain_word(word: str) -> Hole:
    """Return a plain word as a sentence of its own; another word is left as it is."""
    known = _PLAIN.get(word)
    return word if known is None else known.said()
