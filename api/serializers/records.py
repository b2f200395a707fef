"""Records of the packages below as fields of an answer, described as they are sent."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class Record(serializers.JSONField):
    """A field that is a record, or a list of them (`many`).

    Each record is one of `FIELDS` in `api/record_schemas.py`, which describes it.
    """

    def __init__(self, kind: type, *, many: bool = False, **options: Any) -> None:
        """Take the record's class, and what every field takes."""
        super().__init__(**options)
        schema: dict[str, Any] = {"$ref": f"#/components/schemas/{kind.__name__}"}
        if many:
            schema = {"type": "array", "items": schema}
        self._spectacular_annotation = {"field": schema}
