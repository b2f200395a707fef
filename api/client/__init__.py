"""A client of the REST API, typed, with the standard library alone.

`Client` waits for each answer, `AsyncClient` is awaited. Both have a call for
what people do most, and in `operations` every operation of the API under its
own name, typed from the API's schema. `pip install ./api/client` installs it as
`quotalab.client`, which needs nothing else.
"""

from __future__ import annotations

from .asynchronous import AsyncClient
from .records import Done, Event, Imported, Sandbox
from .sending import ApiError
from .waiting import Client, StoppedError

__all__ = [
    "ApiError",
    "AsyncClient",
    "Client",
    "Done",
    "Event",
    "Imported",
    "Sandbox",
    "StoppedError",
]
