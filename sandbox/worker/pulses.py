"""What a beat of the clock sends: a message for every sandbox that is due."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from sandbox.base.database_time import DatabaseTime, database_seconds
from sandbox.models import Lesson, Sandbox
from sandbox.process.celery import LESSONS, TICKS, app, own_queue
from sandbox.process.services import bus_client

#: A tick that its process has not begun after this is sent to all of them.
EXPIRES_S = 3.0
#: There a message may be lost after this, where fewer are in the queue than were sent.
EXPIRES_FOR_ALL_S = 4.0
#: Sandboxes that one pulse sends; the next follows in 50 ms.
MOST_SENT = 500


def pulse() -> int:
    """Send every sandbox that is due to a worker; return how many.

    A fixed number of statements, and no world is read. A message to all is sent again only where more sandboxes
    wait than messages: those in the queue keep their place, however long it takes, or
    under load each would be worth nothing when its turn comes.
    """
    now = DatabaseTime()
    due = Sandbox.objects.filter(playing=True, due_at__lte=now, lease_until__lt=now)
    sent = due.exclude(queued_until=0)
    new, late = due.filter(queued_until=0), sent.filter(queued_until__lt=now)
    first = list(new.order_by("due_at").values_list("pk", flat=True)[:MOST_SENT])
    oldest = late.order_by("queued_until", "due_at")
    expired = list(oldest.values_list("pk", "warm")[:MOST_SENT])
    count = _send_marked(new, first, EXPIRES_S)
    # Its process did not begin it: it goes to whoever is there, once.
    own = [pk for pk, warm in expired if warm]
    count += _send_marked(late, own, EXPIRES_FOR_ALL_S, warm="")
    if to_all := [pk for pk, warm in expired if not warm]:
        lost = max(0, sent.filter(warm="").count() - _waiting_for_all())
        count += _send_marked(late, to_all[:lost], EXPIRES_FOR_ALL_S)
    return count


def _send_marked(
    those: QuerySet[Sandbox], keys: list[str], seconds: float, **columns: str
) -> int:
    """Note in the rows of what is due that a message is on its way, and send it.

    The ticket is of this call alone: of two pulses each sends what it marked, and marks
    what is still one of `those`.
    """
    if not keys:
        return 0
    ticket = database_seconds() + seconds + secrets.randbelow(10**6) * 1e-9
    those.filter(pk__in=keys).update(queued_until=ticket, **columns)
    mine = Sandbox.objects.filter(pk__in=keys, queued_until=ticket).order_by("due_at")
    held = Exists(Lesson.objects.running().filter(sandbox=OuterRef("pk")))
    marked = list(mine.annotate(held=held).values_list("pk", "warm", "held"))
    for pk, warm, lesson in marked:
        send(pk, warm, ticket, lesson=lesson)
    return len(marked)


def _waiting_for_all() -> int:
    bus = bus_client(settings.BUS_URL)
    try:
        return int(bus.llen(TICKS)) + int(bus.llen(LESSONS))
    finally:
        bus.close()


def send(sandbox_id: str, warm: str, ticket: float, *, lesson: bool = False) -> None:
    """Ask a process to advance the sandbox; the one that holds its world if any.

    Processes take from their queues in turn: a lesson waits for one message of each other
    queue, however many are in them.
    """
    app.send_task(
        "sandbox.advance",
        (sandbox_id, ticket),
        retry=False,
        queue=own_queue(warm, lesson=lesson) if warm else LESSONS if lesson else TICKS,
    )
