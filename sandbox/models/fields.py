"""Columns of our own: JSON kept as the text that was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from django.db import models

encode_json = msgspec.json.Encoder().encode
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
