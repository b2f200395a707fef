"""What a client is sent: a whole page, or the diffs above what it has."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from sandbox.base.errors import NotFoundError
from sandbox.base.refusals import Absent
from sandbox.models import Event, Sandbox
from sandbox.page import diffs
from sandbox.page.diffs import Page, encode_step
from sandbox.page.wire import PROTOCOL
from sandbox.world import history
from sandbox.world.kept import Kept

#: A client further behind than this gets a page.
MOST_STEPS = 200

#: No decisions, and so many in a large world that no decision would be left of the newest.
UNDECIDED = ("Arrive", "Wait")

_encode = msgspec.json.Encoder().encode


def newest_revisions(sandbox_ids: Sequence[str]) -> dict[str, int]:
    """Return the revision committed last of each sandbox that is there. One query."""
    found = Sandbox.objects.filter(pk__in=sandbox_ids)
    return dict(found.values_list("pk", "revision"))


def frames_for(sandbox_id: str, since: int | None) -> tuple[list[str], int]:
    """Return the frames for a client at revision `since`, and the revision they lead to."""
    sandbox = Sandbox.objects.select_related("parent").filter(pk=sandbox_id).first()
    if sandbox is None:
        raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox_id))
    if since is not None and since <= sandbox.revision:
        steps = history.steps_since(sandbox, since, most=MOST_STEPS)
        if steps is not None:
            frames = [encode_step(diffs.merge(steps)).decode()] if steps else []
            return frames, sandbox.revision
    return [page_state(sandbox, sandbox.revision).decode()], sandbox.revision


#: The messages made last.
_messages = Kept[bytes](4 * 2**20, weigh=len)


def page_state(sandbox: Sandbox, revision: int) -> bytes:
    """Return the message `page_state` of a revision.

    A class that follows a lesson asks for the same one at once.
    """
    key = (
        *(sandbox.pk, revision, sandbox.revision, sandbox.title, sandbox.branch),
        *(sandbox.parent_id, sandbox.kept_tick, sandbox.playing, str(sandbox.until)),
    )
    return _messages.made(lambda: _made(sandbox, revision), *key)


def _made(sandbox: Sandbox, revision: int) -> bytes:
    page = history.page_at(sandbox, revision)
    return _encode(state_of(sandbox, revision, page))


def state_of(sandbox: Sandbox, revision: int, page: Page) -> dict[str, object]:
    """Return a page with the newest samples and decisions up to its revision."""
    samples = history.newest_samples(sandbox, revision, diffs.MOST_SAMPLES)
    events = history.newest_events(
        sandbox, revision, diffs.MOST_EVENTS, without=UNDECIDED
    )
    return {
        "type": "page_state",
        "protocol": PROTOCOL,
        "revision": revision,
        "rows": list(page.values()),
        "samples": [sample.body for sample in samples],
        "events": [event_line(event) for event in events],
    }


def event_line(event: Event) -> dict[str, object]:
    """Return a stored event as it travels."""
    return {
        "revision": event.revision,
        "seq": event.seq,
        "tick": event.tick,
        "tMs": event.t_ms,
        "type": event.type,
        "subject": event.subject,
        "by": event.by,
        "reason": event.reason,
        "message": event.message,
        **({} if event.said is None else {"said": event.said}),
    }
