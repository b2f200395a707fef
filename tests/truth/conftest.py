"""A client of the API, and a person to ask as."""

from __future__ import annotations

from tests.api.conftest import client, person  # noqa: F401 - fixtures
from tests.sandbox.conftest import _nothing_in_memory  # noqa: F401 - a fixture
