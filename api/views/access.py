"""Tokens, members, links, and the log of who was let in."""

from __future__ import annotations

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.serializers import access as bodies
from api.serializers.sandboxes import SandboxSerializer
from api.views.base import View, number
from sandbox import actions
from sandbox.access.people import signs_in
from sandbox.actions.access import owned
from sandbox.models import Audit, Member, ShareLink, Token
from sandbox.models.sandbox import is_guest


class Me(View):
    """Who asks."""

    @extend_schema(operation_id="me_read", responses=bodies.MeSerializer)
    def get(self, request: Request) -> Response:
        """Return the user's name and the scope of the token of this request."""
        token = request.auth
        scope = token.scope if isinstance(token, Token) else "admin"
        name = self.user().get_username()
        reached = request.build_absolute_uri("/").rstrip("/") if signs_in() else None
        return Response(
            {
                "user": name,
                "server": settings.SERVER,
                "scope": scope,
                "guest": is_guest(self.user()),
                "reachedAt": reached,
            }
        )


class Tokens(View):
    """One's own tokens."""

    scope = "admin"

    @extend_schema(operation_id="tokens_list", responses=bodies.TokenListSerializer)
    def get(self, request: Request) -> Response:
        """Return the tokens, newest first, without secrets."""
        found = Token.objects.filter(user=self.user()).select_related("made_with")
        return Response({"items": bodies.TokenSerializer(found, many=True).data})

    @extend_schema(
        operation_id="tokens_create",
        request=bodies.NewTokenSerializer,
        responses={201: bodies.MadeTokenSerializer},
    )
    def post(self, request: Request) -> Response:
        """Create a token; only this answer contains its secret.

        Asked for with a token, it ends with that one: it expires no later, and is
        revoked with it.
        """
        given = self.read(bodies.NewTokenSerializer)
        token, secret = actions.do_token(
            self.user(),
            name=given["name"],
            scope=given["scope"],
            expires_at=given["expiresAt"],
            asked_with=request.auth if isinstance(request.auth, Token) else None,
        )
        body = {**bodies.TokenSerializer(token).data, "token": secret}
        return Response(body, status=201)


class OneToken(View):
    """One of one's own tokens."""

    scope = "admin"

    @extend_schema(operation_id="tokens_delete", responses={204: None})
    def delete(self, request: Request, token_id: int) -> Response:
        """Revoke a token, and the tokens that were made with it.

        Links that it made and members that it let in stay.
        """
        actions.do_revoke(self.user(), token_id)
        return Response(status=204)


class Members(View):
    """Who was let in."""

    scope = "admin"

    @extend_schema(operation_id="members_list", responses=bodies.MemberListSerializer)
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the members; for the owner only."""
        sandbox = owned(self.user(), sandbox_id)
        found = Member.objects.filter(sandbox=sandbox).select_related("user")
        return Response({"items": bodies.MemberSerializer(found, many=True).data})


class OneMember(View):
    """Somebody in a sandbox."""

    scope = "admin"

    @extend_schema(
        operation_id="members_put",
        request=bodies.RoleSerializer,
        responses=bodies.MemberSerializer,
    )
    def put(self, request: Request, sandbox_id: str, username: str) -> Response:
        """Add a member as editor or viewer, or change the role."""
        owned(self.user(), sandbox_id)
        role = self.read(bodies.RoleSerializer)["role"]
        member = actions.do_member(self.user(), sandbox_id, username, role)
        return Response(bodies.MemberSerializer(member).data)

    @extend_schema(operation_id="members_delete", responses={204: None})
    def delete(self, request: Request, sandbox_id: str, username: str) -> Response:
        """Remove a member; members may remove themselves."""
        actions.do_unmember(self.user(), sandbox_id, username)
        return Response(status=204)


class Shares(View):
    """The links to a sandbox."""

    scope = "admin"

    @extend_schema(operation_id="shares_list", responses=bodies.LinkListSerializer)
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the links, newest first; for the owner only."""
        found = ShareLink.objects.filter(sandbox=owned(self.user(), sandbox_id))
        return Response({"items": bodies.LinkSerializer(found, many=True).data})

    @extend_schema(
        operation_id="shares_create",
        request=bodies.NewLinkSerializer,
        responses={201: bodies.MadeLinkSerializer},
    )
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Create a link; only this answer contains its secret."""
        owned(self.user(), sandbox_id)
        given = self.read(bodies.NewLinkSerializer)
        link, secret = actions.do_share(
            self.user(),
            sandbox_id,
            may_fork=given["mayFork"],
            event=given["event"],
            expires_at=given["expiresAt"],
        )
        body = {**bodies.LinkSerializer(link).data, "secret": secret}
        return Response(body, status=201)


class OneShare(View):
    """A link."""

    scope = "admin"

    @extend_schema(operation_id="shares_delete", responses={204: None})
    def delete(self, request: Request, sandbox_id: str, link_id: int) -> Response:
        """Delete the link; people who came by it lose access."""
        actions.do_unshare(self.user(), sandbox_id, link_id)
        return Response(status=204)


class Open(View):
    """A link that somebody was given."""

    @extend_schema(
        operation_id="shares_open",
        request=bodies.OpenLinkSerializer,
        responses=SandboxSerializer,
    )
    def post(self, request: Request) -> Response:
        """Open a link: the user may see the sandbox from now on."""
        secret = self.read(bodies.OpenLinkSerializer)["secret"]
        sandbox = actions.do_open(self.user(), secret)
        return self.shown(sandbox)


class SandboxAudit(View):
    """Who was let in and out of a sandbox."""

    scope = "admin"

    @extend_schema(
        operation_id="audit_read",
        responses=bodies.AuditListSerializer,
        parameters=[OpenApiParameter("limit", int, description="The newest; 200.")],
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the newest lines of the audit log; for the owner only."""
        sandbox = owned(self.user(), sandbox_id)
        limit = number(request, "limit", 200, most=5000)
        found = Audit.objects.filter(sandbox=sandbox.pk)[:limit]
        return Response({"items": bodies.AuditSerializer(found, many=True).data})
