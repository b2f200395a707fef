"""The base of all parts of an experiment's document."""

from __future__ import annotations

import msgspec


class Strict(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
):
    """The base of all parts: unknown fields are errors."""
