"""Paths of the API that lead nowhere: a Status says so, not a page."""

from __future__ import annotations

from typing import Any, NoReturn

from rest_framework.request import Request
from rest_framework.views import APIView

from sandbox.base.errors import NotFoundError
from scheduler.model.problems import RequestProblem


class Unknown(APIView):
    """Any method of any such path."""

    schema = None
    authentication_classes = ()
    permission_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse. Raises NotFoundError."""
        raise NotFoundError(RequestProblem.NO_PAGE.said(path=request.path))
