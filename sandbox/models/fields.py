"""Columns of our own: JSON kept as the text that was written."""

from __future__ import annotations

from typing import Any

import msgspec
from django.db import models

encode_json = msgspec.json.Encoder().encode
decode_json = msgspec.json.Decoder().decode


def json_text(value: Any) -> str:
    """Return compact JSON, keys in the order given."""
    return encode_json(value).decode()


class JsonText(models.TextField):  # type: ignore[type-arg]  # set by its own conversions
    """JSON in a text column: key order and numbers survive on every database.

    The databases' own JSON types reorder keys, and the engine's answers must
    not depend on which database holds the rows.
    """

    def from_db_value(self, value: str | None, *_: Any) -> Any:
        """Return the value that the text holds."""
        return None if value is None else decode_json(value)

    def get_prep_value(self, value: Any) -> str | None:
        """Return the text to store."""
        return None if value is None else json_text(value)
