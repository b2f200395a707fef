"""A server's rights, a sandbox that stands still, and people of every role."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from sandbox.models import Sandbox
from tests.api.access.roles import let_in
from tests.builders import cluster_queue, flavor, job, local_queue, node


@pytest.fixture
def server(settings):
    settings.SERVER = True


@pytest.fixture
def quiet(make) -> Sandbox:
    """A small sandbox that stands still, private."""
    return make(
        flavor(),
        cluster_queue("a", cpu=4),
        local_queue("a-queue", cluster_queue="a"),
        local_queue("b-queue", cluster_queue="a"),
        job("x", queue="a-queue", cpu=1),
        node("n"),
    )


@pytest.fixture
def be(quiet, db) -> Callable[[str], User]:
    """Return a function that makes somebody of a role."""
    User.objects.create_user("carol")

    def someone(role: str) -> User:
        if role == "owner":
            return quiet.owner
        user = User.objects.create(username=role.replace(" ", "-"))
        let_in(quiet, user, role)
        return user

    return someone
