"""Columns of our own: JSON kept as the text that was written, sentences with codes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import msgspec
from django.db import models

from scheduler.model.sentence import Sentence, plain


def text_alone(value: Any) -> str:
    """Return sayings as their text, for encoders that take no other kind of text."""
    if isinstance(value, Sayings):
        return str(value)
    raise NotImplementedError


encode_json = msgspec.json.Encoder(enc_hook=text_alone).encode
decode_json = msgspec.json.Decoder().decode


def json_text(value: Any) -> str:
    """Return compact JSON, keys in the order given."""
    return encode_json(value).decode()


if TYPE_CHECKING:
    _TextField = models.TextField[Any, Any]
else:
    _TextField = models.TextField


class JsonText(_TextField):
    """JSON in a text column: key order and numbers survive on every database.

    The databases' own JSON types reorder keys, and the engine's answers must
    not depend on which database holds the rows.
    """

    if TYPE_CHECKING:
        _pyi_private_set_type: Any
        _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, *_: Any) -> Any:
        """Return the value that the text holds."""
        return None if value is None else decode_json(value)

    def get_prep_value(self, value: Any) -> str | None:
        """Return the text to store."""
        return None if value is None else json_text(value)


class Sayings(str):
    """Sentences as one text of a line each, in English, with their codes in `said`."""

    __slots__ = ("said",)

    said: tuple[Sentence, ...]

    def __new__(cls, said: Iterable[Sentence]) -> Self:
        """Make the text of some sentences; "" of none."""
        lines = tuple(said)
        made = super().__new__(cls, "\n".join(line.text for line in lines))
        made.said = lines
        return made

    def __getnewargs__(self) -> tuple[tuple[Sentence, ...]]:  # type: ignore[override]
        """Return what a copy is made of."""
        return (self.said,)

    @classmethod
    def of(cls, text: str) -> Self:
        """Return a text as sentences; one without codes line by line."""
        if isinstance(text, cls):
            return text
        return cls(plain(line) for line in text.split("\n") if text)


class SaidText(_TextField):
    """Sayings in a text column: their JSON, "" for none."""

    def deconstruct(self) -> Any:
        """Return the text column that it is to the database."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs

    def from_db_value(self, value: str | None, *_: Any) -> Sayings | None:
        """Return the sentences that the text holds."""
        if value is None:
            return None  # no row, in an outer join
        return Sayings(msgspec.json.decode(value or "[]", type=list[Sentence]))

    def get_prep_value(self, value: str) -> str:
        """Return the text to store."""
        said = Sayings.of(value).said
        return json_text(said) if said else ""
