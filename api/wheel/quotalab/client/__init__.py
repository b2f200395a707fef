"""The client of the REST API, by the name that it has where it is installed alone."""

from __future__ import annotations

from api.client import *  # noqa: F403 - the same names
from api.client import __all__ as __all__
