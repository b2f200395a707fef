"""A client of the API, and sandboxes to ask about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from sandbox.models import Sandbox
from tests.sandbox.conftest import (  # noqa: F401 - fixtures
    _nothing_in_memory,
    busy,
    make,
    person,
    stranger,
)


@pytest.fixture
def client(db) -> APIClient:
    """A client of the default run: nobody signs in there."""
    return APIClient()


@pytest.fixture
def call(client: APIClient) -> Callable[..., Any]:
    """Return a function that asks for a path of one sandbox."""

    def ask(
        method: str, sandbox: Sandbox, path: str, body: Any = None, **headers: str
    ) -> Any:
        url = f"/api/v1/sandboxes/{sandbox.pk}{path}"
        return getattr(client, method)(url, body, format="json", headers=headers)

    return ask
