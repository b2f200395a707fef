"""The live protocol: every message that travels between page and server.

Rows in them are of `wire_rows`. The page's types are made of these two modules
and nothing else.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from sandbox.page.wire_rows import Amounts, AnyRow, Wire
from scheduler.model.sentence import Sentence

PROTOCOL = 1

# Row key -> the fields that changed, whole values, by their names on the wire.
Patches = Annotated[
    dict[str, dict[str, Any]], msgspec.Meta(extra={"patches": "AnyRow"})
]


class QueueSample(Wire, frozen=True, kw_only=True):
    """One queue at one tick, for the curves."""

    queue: str
    share: float | None  # None = infinite
    used: Amounts
    pending: int


class Sample(Wire, frozen=True, kw_only=True):
    """The whole world at one tick, for the curves."""

    tick: int
    t_ms: int
    pending: int
    admitted: int
    finished: int
    preemptions: int  # in this tick
    evictions: int
    used: Amounts
    capacity: Amounts
    queues: list[QueueSample]
    cost: float | None = None  # of nodes that come and go, so far
    #: of Kueue's searches for victims in this tick; null where nobody counted
    searches: int | None = None
    candidates_looked_at: int | None = None
    simulations: int | None = None
    #: how much of the cluster is short of fair shares, 0 to 1; null without ClusterQueues
    share_error: float | None = None


class EventLine(Wire, frozen=True, kw_only=True):
    """One decision or edit, as the event list shows it.

    `said` is the message with its code, where it is in words of this program; a
    scheduler's own words have none.
    """

    revision: int
    seq: int
    tick: int
    t_ms: int
    type: str
    subject: str
    by: str
    reason: str
    message: str
    said: Sentence | msgspec.UnsetType = msgspec.UNSET


class Hello(Wire, tag="hello", tag_field="type", frozen=True, kw_only=True):
    """Client: what it has and wants. `since` asks for diffs above a revision."""

    since: int | None = None
    views: list[str] = msgspec.field(default_factory=list)


class PageState(Wire, tag="page_state", tag_field="type", frozen=True, kw_only=True):
    """Server: everything at one revision. The newest 600 samples and 200 events.

    Arrive and Wait are left out of the events: of a large world they would be all 200.
    """

    revision: int
    rows: list[AnyRow]
    samples: list[Sample]
    events: list[EventLine]
    protocol: int = PROTOCOL


class Diff(Wire, tag="diff", tag_field="type", frozen=True, kw_only=True):
    """Server: from one revision to a later one; may span several.

    `updated` holds the changed fields only, whole values. A client whose
    revision is not `from_revision` says hello again.
    """

    from_revision: int = msgspec.field(name="from")
    revision: int
    tick: int
    added: list[AnyRow]
    updated: Patches
    removed: list[str]
    samples: list[Sample]
    events: list[EventLine]


class Resync(Wire, tag="resync", tag_field="type", frozen=True, kw_only=True):
    """Server: the diffs you need are gone; say hello without `since`."""

    revision: int


class ServiceStatus(Wire, tag="status", tag_field="type", frozen=True, kw_only=True):
    """Server: how the service is. Errors stay until a status without one.

    `said` is the message with its code; none with an empty one.
    """

    level: Literal["live", "waiting", "error"]
    message: str
    said: Sentence | None = None


def service_status(
    level: Literal["live", "waiting", "error"], said: Sentence | None = None
) -> ServiceStatus:
    """Return how the service is, in words where there is something to say."""
    message = "" if said is None else said.text
    return ServiceStatus(level=level, message=message, said=said)


class Tally(Wire, frozen=True, kw_only=True):
    """How many followers expect one choice at one stop of a lesson."""

    stop: int
    choice: int
    count: int


class FollowerNews(Wire, frozen=True, kw_only=True):
    """One who follows: the number that their page shows, their name or "", what they answered."""

    number: int
    name: str
    answered: list[int]


class LessonNews(Wire, tag="lesson", tag_field="type", frozen=True, kw_only=True):
    """Server: a lesson begins, shows something else, is answered, or ends.

    `view` and `query` are where the presenter's page is; an older `version`
    than one that was seen is stale. `people` are the first 200 followers.
    """

    running: bool
    version: int
    view: str
    query: str
    revealed: list[int]
    followers: int
    tallies: list[Tally]
    people: list[FollowerNews]


ServerMessage = PageState | Diff | Resync | ServiceStatus | LessonNews
