"""A client of the API, and sandboxes to ask about."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
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
def client(person: User) -> APIClient:  # noqa: F811 - the fixture
    """A client of `person`: in the default run nobody has to sign in."""
    client = APIClient()
    if settings.SERVER:
        client.force_login(person)
    return client


@pytest.fixture
def call(client: APIClient) -> Callable[..., Any]:
    """Return a function that asks for a path of one sandbox."""

    def ask(
        method: str, sandbox: Sandbox, path: str, body: Any = None, **headers: str
    ) -> Any:
        url = f"/api/v1/sandboxes/{sandbox.pk}{path}"
        if method == "patch" and path.startswith(("/api/", "/apis/")):
            media = "application/merge-patch+json"  # JSON alone is no patch there
            text = json.dumps(body)
            return client.patch(url, text, content_type=media, headers=headers)
        return getattr(client, method)(url, body, format="json", headers=headers)

    return ask
