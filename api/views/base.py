"""What every view of a sandbox shares: who asks, which sandbox, which version."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, NoReturn, TypeVar

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.errors import PreconditionFailedError, coded, invalid, places_of
from api.permissions import Explanations
from api.serializers.sandboxes import SandboxSerializer
from api.serializers.wrong_values import (
    reads_no_body,
    unknown_keys,
    unknown_parameters,
    wrong_choices,
    wrong_values,
)
from sandbox.access import limits
from sandbox.answers import asking, requests
from sandbox.base.errors import BusyError, NotFoundError, TooManyError
from sandbox.base.refusals import Absent, Denied, NotNow
from sandbox.models import Sandbox
from sandbox.process import connections, watchdog
from sandbox.world.history import refuse_archived
from scheduler.model.amounts import is_whole
from scheduler.model.problems import Problem, RequestProblem, Wanted, expected

S = TypeVar("S", bound=serializers.Serializer[Any])


#: Seconds for which an answer that is run anew waits for others to be done.
ANSWER_PATIENCE_S = 5.0
#: Seconds after which an answer may be asked for again that was one too many.
ANSWER_WAIT_S = 1.0
#: Digits that fit 64 bits.
LONGEST_NUMBER = 18


def checked(kind: type[S], body: Any, *, is_form: bool = False) -> dict[str, Any]:
    """Return what a body says, as `View.read` does. Raises ValidationError."""
    given = kind(data=body)
    unknown = unknown_keys(given, body)
    wrong: dict[str, list[Any]] = {}
    if not given.is_valid():
        # Of an object with a key that nobody reads, that is what is wrong.
        above = {place.rpartition(".")[0] for place in unknown}
        for place, detail in places_of(given.errors):
            if place not in above:
                wrong.setdefault(place, []).append(detail)
    if not is_form:
        wrong |= wrong_values(given, body)
    if unknown or wrong:
        raise serializers.ValidationError({**unknown, **wrong})
    values: dict[str, Any] = given.validated_data
    return values


class View(APIView):
    """A view whose user is known.

    A parameter of the query that it does not document is a 422, and a value that is
    none of those documented; one without a schema
    of ours (Kubernetes' paths, YuniKorn's, metrics) reads what it knows.
    """

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a request without permission, then one with parameters that are not read."""
        super().initial(request, *args, **kwargs)
        if self.schema is None:
            return
        wrong = unknown_parameters(self, request.query_params)
        wrong |= wrong_choices(self, request.query_params)
        if not wrong and reads_no_body(self) and request.data:
            problem = expected(Wanted.NO_BODY, given=f"{request.data!r:.60}")
            wrong = {"": [coded(problem)]}
        if wrong:
            raise serializers.ValidationError(wrong)
        if watchdog.is_serving():
            # Kept, for a worker that may have to read it too.
            watchdog.leave_to_worker(
                len(request._request.body), settings.BYTES_PER_REQUEST
            )
        self._take_slot()

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Answer, and give back the slot of an answer that was run anew.

        What is large is answered by a worker. A request that still computes for too long
        is a 503; what it was at is rolled back.
        """
        if hasattr(request, "at_worker"):
            return super().dispatch(request, *args, **kwargs)
        most, began_in = settings.REQUEST_CPU_S, connection.in_atomic_block
        serving = nullcontext() if settings.ANSWER_INLINE else watchdog.serving()
        try:
            with watchdog.within_cpu(most), serving:
                return super().dispatch(request, *args, **kwargs)
        except watchdog.OverdueError:
            if not began_in:
                connections.drop()
            refused = self.handle_exception(BusyError(NotNow.DEAR.said(seconds=most)))
            return self.finalize_response(self.request, refused, *args, **kwargs)
        except watchdog.ForWorkerError:
            found = self._answered_by_worker(request)
            return self.finalize_response(self.request, found, *args, **kwargs)
        finally:
            if self._slot is not None:
                limits.answer_slots.leave(self._slot)

    def _answered_by_worker(self, request: Any) -> Any:
        token: Any = self.request.auth
        asked = requests.document_of(request, self.user(), token)
        try:
            return requests.response_of(
                asking.answered(requests.KIND, (), self.user(), **asked)
            )
        except Exception as error:
            return self.handle_exception(error)

    def get_throttles(self) -> list[Any]:
        """Return what counts requests; nothing at a worker, where it was counted before."""
        at_worker = hasattr(self.request, "at_worker")
        return [] if at_worker else list(super().get_throttles())

    _slot: int | None = None  # of the user whose slot is taken

    def _take_slot(self) -> None:
        """Take a slot for an answer that is run anew, or wait. Raises TooManyError."""
        user_id = self.request.user.pk
        at_worker = hasattr(self.request, "at_worker")
        if Explanations not in self.throttle_classes or user_id is None or at_worker:
            return
        connections.give_back()
        if not limits.answer_slots.take(user_id, patience_s=ANSWER_PATIENCE_S):
            raise TooManyError(Denied.ANSWERS.said(), wait=ANSWER_WAIT_S)
        self._slot = user_id

    def user(self) -> User:
        """Return the user of the request; the permission refuses anonymous ones before."""
        user = self.request.user
        assert isinstance(user, User)
        return user

    def by_workers(
        self,
        kind: str,
        /,
        *sandboxes: Sandbox,
        wait_s: float | None = None,
        **arguments: Any,
    ) -> Response:
        """Answer a question that a worker works out; a 202 when that takes long."""
        return Response(
            asking.answered(kind, sandboxes, self.user(), wait_s=wait_s, **arguments)
        )

    def read(self, kind: type[S], data: Any = None) -> dict[str, Any]:
        """Return the request's body, checked; what is wrong is a 422.

        A key that nobody reads is wrong: a slip would do something else unsaid. So is
        a text for a number or a switch, but in a form, which has texts alone.
        """
        body = self.request.data if data is None else data
        is_form = self.request.content_type.startswith("multipart/")
        return checked(kind, body, is_form=is_form)

    def shown(self, sandbox: Sandbox, status: int = 200, **more: Any) -> Response:
        """Answer with a sandbox as lists show it, and with what else is to be said."""
        body = SandboxSerializer(sandbox, context={"request": self.request}).data
        return Response({**body, **more}, status=status)

    def sandbox(self, sandbox_id: str, *, archived: bool = False) -> Sandbox:
        """Return the sandbox if the user may see it; else it does not exist.

        An archived one has nothing to read, unless the view is about that.
        """
        user = self.user()
        found = Sandbox.objects.seen_by(user, sandbox_id)
        if found is None:
            raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox_id))
        if found.owner_id == user.pk:
            found.owner = user  # whom a query would bring
        if not archived:
            refuse_archived(found)
        return found


def version_matches(request: Request, version: int) -> None:
    """Refuse a request whose If-Match names another version."""
    given = request.headers.get("If-Match")
    if given is None or given.strip() == "*":
        return
    if str(version) not in _versions(given):
        raise PreconditionFailedError(NotNow.VERSION.said(version=version, given=given))


def has_newest(request: Request, version: int) -> bool:
    """Return whether If-None-Match names the version that is there: a 304."""
    given = request.headers.get("If-None-Match")
    return given is not None and str(version) in _versions(given)


def _versions(header: str) -> set[str]:
    return {part.strip().removeprefix("W/").strip('"') for part in header.split(",")}


def versioned(request: Request, document: Any, version: int) -> Response:
    """Answer with a document and its ETag; without a body to a client that has it."""
    tag = {"ETag": f'"{version}"'}
    if has_newest(request, version):
        return Response(status=304, headers=tag)
    return Response(document, headers=tag)


def number(request: Request, name: str, default: int, *, most: int) -> int:
    """Return a whole number of the query; 422 for anything else, and for more than `most`.

    More is not cut to what is possible: who asked for 5,000 futures would take the
    answer of 1,000 for theirs.
    """
    found = _whole_parameter(request, name, default)
    if found > most:
        wanted = Wanted.AT_MOST.said(most=most)
        raise invalid({name: expected(wanted, found)})
    return found


def clamped_number(request: Request, name: str, default: int, *, most: int) -> int:
    """Return the same, cut to `most`, as an API server of Kubernetes does."""
    return min(_whole_parameter(request, name, default), most)


def _whole_parameter(request: Request, name: str, default: int) -> int:
    text = _parameter(request, name)
    if text is None:
        return default
    found = whole(text)
    if found is None:
        raise invalid({name: expected(Wanted.WHOLE, text[:40])})
    return found


def whole(text: str) -> int | None:
    """Return a whole number from a query or a path; None if it is not one.

    Digits of other scripts are none, and no number here has over 18 digits.
    """
    fits = is_whole(text) and len(text) <= LONGEST_NUMBER
    return int(text) if fits else None


def flag(request: Request, name: str) -> bool:
    """Return a yes or no of the query; `dryRun=All` is Kubernetes' yes; else a 422."""
    text = (_parameter(request, name) or "").lower()
    if text not in _YES + _NO:
        raise invalid({name: expected(Wanted.FLAG, text[:40])})
    return text in _YES


def asks(request: Request, name: str) -> bool:
    """Return a yes or no of the query as an API server reads it: all but no is yes."""
    text: str | None = request.query_params.get(name)
    return text is not None and text.lower() not in ("0", "false")


_YES = ("1", "true", "all", "yes")
_NO = ("", "0", "false", "no", "none")


def _parameter(request: Request, name: str) -> str | None:
    """Return a parameter of the query; one that differs by its capitals is a 422.

    `?dryrun=All` would else be carried out.
    """
    for given in request.query_params:
        if given != name and given.lower().replace("_", "") == name.lower():
            problem = Problem.NEAR_PARAMETER.said(near=name)
            raise invalid({given: problem})
    return request.query_params.get(name)


# ------------------------------------------------------------------------
# Paths of the API that lead nowhere: a Status says so, not a page.


class Unknown(APIView):
    """Any method of any such path."""

    schema = None
    authentication_classes = ()
    permission_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse. Raises NotFoundError."""
        raise NotFoundError(RequestProblem.NO_PAGE.said(path=request.path))
