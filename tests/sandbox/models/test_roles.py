"""Who is what in one sandbox, by its rows alone."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from sandbox.models import Member, Sandbox

pytestmark = pytest.mark.django_db


def test_each_has_the_role_that_was_given_to_them_and_a_stranger_none():
    people = {
        name: User.objects.create(username=name)
        for name in ("owner", "editor", "viewer", "stranger")
    }
    shared = Sandbox.objects.create(
        owner=people["owner"], title="shared", stack="kueue", seed=1, header=b""
    )
    for role in (Member.EDITOR, Member.VIEWER):
        Member.objects.create(sandbox=shared, user=people[role], role=role)
    assert {name: shared.role_of(user) for name, user in people.items()} == {
        "owner": "owner",
        "editor": "editor",
        "viewer": "viewer",
        "stranger": None,
    }
