"""Fields of a queues.yaml, each read with the place to complain about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scheduler.model.errors import ManifestError, QuantityError, SourceLocation
from scheduler.model.problems import Form, Wanted, expected
from scheduler.model.sentence import Sentence
from scheduler.model.yunikorn import resources
from scheduler.model.yunikorn.resources import Amounts

#: Texts that stand for a flag, as YAML 1.1 has them.
_FLAGS = {
    **dict.fromkeys(("y", "yes", "on"), True),
    **dict.fromkeys(("n", "no", "off"), False),
}


class ReadDocument(Protocol):
    """Plain data, and the error to raise about a field of it."""

    @property
    def data(self) -> dict[str, Any]:
        """Return the data."""

    def error(self, path: str, problem: Sentence) -> ManifestError:
        """Return the error to raise about a field, with its place."""


@dataclass(frozen=True, slots=True)
class PlainQueues:
    """A queues.yaml that a policy holds, which has no lines."""

    data: dict[str, Any]
    file: str = "policy"

    def error(self, path: str, problem: Sentence) -> ManifestError:
        """Return the error to raise about a field."""
        place = SourceLocation(file=self.file, line=1, field=path)
        return ManifestError(problem, place=place)


@dataclass(slots=True, kw_only=True)
class Fields:
    """Reads single fields of one document; raises ManifestError with their place."""

    document: ReadDocument

    def error(self, path: str, problem: Sentence) -> ManifestError:
        """Return the error to raise about a field."""
        return self.document.error(path, problem)

    def amounts(self, data: Mapping[str, Any], key: str, path: str) -> Amounts | None:
        """Return the resource, or None when nothing in it is above zero."""
        given = self.mapping(data, key, path)
        found: Amounts = {}
        for name, text in given.items():
            try:
                found[name] = resources.parse(name, text)
            except QuantityError as error:
                raise self.error(f"{path}.{key}.{name}", error.said) from error
        return resources.is_set(found)

    def text(self, data: Mapping[str, Any], key: str, path: str) -> str:
        """Return a text, "" when it is absent; numbers and flags become texts."""
        value = data.get(key)
        if isinstance(value, dict | list):
            raise self.error(f"{path}.{key}", expected(Wanted.TEXT, value))
        return _plain(value)

    def names(self, data: Mapping[str, Any], key: str, path: str) -> tuple[str, ...]:
        """Return a list of texts, empty when it is absent."""
        found = self.list_of(data, key, path)
        for index, value in enumerate(found):
            if isinstance(value, dict | list):
                at = f"{path}.{key}[{index}]"
                raise self.error(at, expected(Wanted.TEXT, value))
        return tuple(map(_plain, found))

    def texts(self, data: Mapping[str, Any], key: str, path: str) -> dict[str, str]:
        """Return a mapping of texts; YAML numbers and flags become texts."""
        given = self.mapping(data, key, path)
        return {_plain(name): self.text(given, name, f"{path}.{key}") for name in given}

    def mapping(self, data: Mapping[str, Any], key: str, path: str) -> dict[str, Any]:
        """Return an object, empty when it is absent."""
        value = data.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(f"{path}.{key}", expected(Wanted.OBJECT, value))
        return value

    def list_of(self, data: Mapping[str, Any], key: str, path: str) -> list[Any]:
        """Return a list, empty when it is absent."""
        value = data.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            at = f"{path}.{key}" if path else key
            raise self.error(at, expected(Wanted.LIST, value))
        return value

    def flag(self, data: Mapping[str, Any], key: str, path: str, default: bool) -> bool:
        """Return a switch, or the default where it is absent. YAML 1.1 words count, too."""
        value = data.get(key)
        if value is None:
            return default
        if isinstance(value, str) and value.lower() in _FLAGS:
            return _FLAGS[value.lower()]
        if not isinstance(value, bool):
            raise self.error(f"{path}.{key}", expected(Wanted.FLAG, value))
        return value

    def count(self, data: Mapping[str, Any], key: str, path: str) -> int:
        """Return a whole number of 0 or more."""
        value = data.get(key)
        if value is None:
            return 0
        if isinstance(value, float) and value >= 0:
            return int(value)  # as the real reader takes it
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            problem = expected(Wanted.WHOLE_OR_MORE.said(least="0"), value)
            raise self.error(f"{path}.{key}", problem)
        return value

    def known(self, data: Mapping[str, Any], keys: set[str], path: str) -> None:
        """Refuse keys that are none of these."""
        for key in data:
            if key not in keys:
                names = ", ".join(sorted(keys))
                raise self.error(f"{path}.{key}", Form.UNKNOWN_KEY.said(known=names))


def _plain(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
