"""What the YAML library and an API server say of a text or an object, in words."""

from __future__ import annotations

from scheduler.model.sentence import Hole, Stated


class NotYaml(Stated):
    """Why a text is not YAML, in libyaml's words and with a hint of ours."""

    KNOWN = ("yaml.known", "not YAML: {what}")
    TABS = ("yaml.tabs", "{what} (a tab? YAML is indented with spaces)")
    VALUES = ("yaml.values", "mapping values are not allowed in this context")
    KEYS = ("yaml.keys", "mapping keys are not allowed in this context")
    ENTRIES = ("yaml.entries", "block sequence entries are not allowed in this context")
    START = ("yaml.start", "found character that cannot start any token")
    KEY = ("yaml.key", "did not find expected key")
    DASH = ("yaml.dash", "did not find expected '-' indicator")
    BRACKET = ("yaml.bracket", "did not find expected ',' or ']'")
    BRACE = ("yaml.brace", "did not find expected ',' or '}'")
    NODE = ("yaml.node", "did not find expected node content")
    DOCUMENT = ("yaml.document", "did not find expected <document start>")
    NAME = ("yaml.name", "did not find expected alphabetic or numeric character")
    COLON = ("yaml.colon", "could not find expected ':'")
    ANOTHER_COLON = ("yaml.anotherColon", "found unexpected ':'")
    STREAM = ("yaml.stream", "found unexpected end of stream")
    INDICATOR = ("yaml.indicator", "found unexpected document indicator")
    ESCAPE = ("yaml.escape", "found unknown escape character")
    TAB = ("yaml.tab", "found a tab character that violates indentation")
    TAB_SPACE = (
        "yaml.tabSpace",
        "found a tab character where an indentation space is expected",
    )
    ALIAS = ("yaml.alias", "found undefined alias {given}")
    TAG = ("yaml.tag", "found undefined tag handle")
    CONTROL = ("yaml.control", "control characters are not allowed")
    LEADING = ("yaml.leading", "invalid leading UTF-8 octet")
    TRAILING = ("yaml.trailing", "invalid trailing UTF-8 octet")


class ApiServer(Stated):
    """What an API server answers, as kubectl shows it."""

    NOT_FOUND = ("server.notFound", '{kind} "{name}" not found')
    NO_QUEUE = ("server.noQueue", "Queue not found: {name}")
    NO_APPLICATION = ("server.noApplication", "Application not found: {name}")
    NO_NODE = ("server.noNode", "Node not found: {name}")


class Plain(Stated):
    """Words that stand alone in the hole of a sentence."""

    NONE = ("plain.none", "none")
    EVERYTHING = ("plain.everything", "everything")
    NO_GROUP = ("plain.noGroup", "no group")
    DOCUMENT = ("plain.document", "document")
    A_LIST = ("plain.list", "a list")
    A_TEXT = ("plain.text", "a text")
    A_NUMBER = ("plain.number", "a number")
    WAITING = ("plain.waiting", "waiting")
    RUNNING = ("plain.running", "running")
    DONE = ("plain.done", "done")
    FAILED = ("plain.failed", "failed")
    CANCELLED = ("plain.cancelled", "cancelled")
    NODE = ("plain.node", "node")
    POD = ("plain.pod", "pod")
    APPLICATION = ("plain.application", "application")


_PLAIN = {one.english: one for one in Plain}


def plain_word(word: str) -> Hole:
    """Return a plain word as a sentence of its own; another word is left as it is."""
    known = _PLAIN.get(word)
    return word if known is None else known.said()
