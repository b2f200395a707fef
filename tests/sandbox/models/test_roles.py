"""Who is what in one sandbox, by its rows alone."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User

from sandbox.models import Member, Sandbox
from sandbox.models.sandbox import GUEST

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


@pytest.mark.parametrize("visibility", [Sandbox.PRIVATE, Sandbox.PUBLIC])
def test_who_may_see_or_edit_one_is_who_finds_it_among_all(visibility):
    named = ("owner", "editor", "stranger", f"{GUEST}somebody")
    people = [User.objects.create(username=name) for name in named]
    one = Sandbox.objects.create(
        owner=people[0],
        title="one",
        stack="kueue",
        seed=1,
        header=b"",
        visibility=visibility,
    )
    Member.objects.create(sandbox=one, user=people[1], role=Member.EDITOR)
    owned = Sandbox.objects.create(
        owner=people[3], title="two", stack="kueue", seed=1, header=b""
    )
    assert not Sandbox.objects.may_edit(people[3], owned.pk), "a guest"
    for user in (*people, AnonymousUser()):
        listed = Sandbox.objects.visible_to(user).filter(pk=one.pk).exists()
        found = Sandbox.objects.seen_by(user, one.pk)
        assert (found == one) is listed, user
        editable = Sandbox.objects.editable_by(user).filter(pk=one.pk).exists()
        assert Sandbox.objects.may_edit(user, one.pk) is editable, user
