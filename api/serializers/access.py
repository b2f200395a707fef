"""Tokens, members, links and the audit log as they travel."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers.wrong_values import seen


class NewTokenSerializer(serializers.Serializer[Any]):
    """A token to make."""

    name = serializers.CharField(max_length=100, validators=[seen])
    scope = serializers.ChoiceField(["read", "write", "admin"], default="read")
    expiresAt = serializers.DateTimeField(allow_null=True, default=None)


class TokenSerializer(serializers.Serializer[Any]):
    """A token; its secret is only in the answer that made it."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    scope = serializers.ChoiceField(["read", "write", "admin"])
    madeWith = serializers.CharField(
        source="maker",
        help_text="The name of the token that asked for it and ends it; or empty.",
    )
    createdAt = serializers.DateTimeField(source="created_at")
    expiresAt = serializers.DateTimeField(source="expires_at", allow_null=True)
    usedAt = serializers.DateTimeField(source="used_at", allow_null=True)


class TokenListSerializer(serializers.Serializer[Any]):
    """One's own tokens."""

    items = TokenSerializer(many=True)


class MadeTokenSerializer(TokenSerializer):
    """A token just made."""

    token = serializers.CharField(help_text="The secret; it is not shown again.")


class RoleSerializer(serializers.Serializer[Any]):
    """What somebody is to be."""

    role = serializers.ChoiceField(["editor", "viewer"])


class MemberSerializer(serializers.Serializer[Any]):
    """Somebody who was let in."""

    user = serializers.CharField(source="user.username")
    role = serializers.ChoiceField(["editor", "viewer"])


class MemberListSerializer(serializers.Serializer[Any]):
    """Everybody who was let in."""

    items = MemberSerializer(many=True)


class NewLinkSerializer(serializers.Serializer[Any]):
    """A link to make."""

    mayFork = serializers.BooleanField(default=False)
    event = serializers.RegexField(
        r"^[0-9]{1,18}\.[0-9]{1,18}\Z",
        default="",
        allow_blank=True,
        help_text="REVISION.SEQ: show the film of that decision alone, without a sign-in.",
    )
    expiresAt = serializers.DateTimeField(allow_null=True, default=None)


class LinkSerializer(serializers.Serializer[Any]):
    """A link; its secret is only in the answer that made it."""

    id = serializers.IntegerField()
    mayFork = serializers.BooleanField(source="may_fork")
    event = serializers.CharField(
        help_text="The decision whose film it shows; empty: the sandbox."
    )
    createdAt = serializers.DateTimeField(source="created_at")
    expiresAt = serializers.DateTimeField(source="expires_at", allow_null=True)


class LinkListSerializer(serializers.Serializer[Any]):
    """The links to a sandbox."""

    items = LinkSerializer(many=True)


class MadeLinkSerializer(LinkSerializer):
    """A link just made."""

    secret = serializers.CharField(help_text="It is not shown again.")


class OpenLinkSerializer(serializers.Serializer[Any]):
    """The secret of a link."""

    secret = serializers.CharField(max_length=200)


class AuditSerializer(serializers.Serializer[Any]):
    """One line of the audit log."""

    at = serializers.DateTimeField()
    who = serializers.CharField()
    action = serializers.CharField()
    subject = serializers.CharField()
    detail = serializers.DictField()


class AuditListSerializer(serializers.Serializer[Any]):
    """The newest lines, newest first."""

    items = AuditSerializer(many=True)


class MeSerializer(serializers.Serializer[Any]):
    """Who asks, and whether this is a server that people sign in to."""

    user = serializers.CharField()
    server = serializers.BooleanField()
    scope = serializers.ChoiceField(["read", "write", "admin"])
    guest = serializers.BooleanField(help_text="Follows a lesson, and nothing else.")
    reachedAt = serializers.CharField(
        allow_null=True, help_text="Where others come in; null: this machine alone."
    )
