"""A connection that holds a message it could not acknowledge is given up.

The bus may go in the middle of a task. The acknowledgement then fails, is logged and
forgotten, and the message counts for ever as one that this process still works on:
with one message at a time, the process asks for no other, polls nothing and never
notices that the bus is back. A process that is alone runs its timers between tasks
only, where nothing is being worked on; so a timer that finds no room for a message
has found such a connection, and a connection error makes Celery open another.
"""

from __future__ import annotations

from typing import Any

from celery import bootsteps
from celery.worker.consumer.tasks import Tasks

LOOK_EVERY_S = 1.0


class GiveUpLostAcks(bootsteps.StartStopStep):
    """A step of Celery's consumer: looks once a second between tasks (solo pool only)."""

    requires = (Tasks,)

    def start(self, consumer: Any) -> None:
        """Begin to look, at the channel of this connection."""
        channel = consumer.task_consumer.channel
        self.look = consumer.timer.call_repeatedly(
            LOOK_EVERY_S, refuse_full, (channel,)
        )

    def stop(self, consumer: Any) -> None:
        """End to look; the next connection begins with a channel of its own."""
        self.look.cancel()


def refuse_full(channel: Any) -> None:
    """Do nothing while `channel`, a kombu one, has room for a message.

    Errors: ConnectionError, which Celery mends by connecting again.
    """
    if not channel.qos.can_consume():
        raise ConnectionError("a message could not be acknowledged; connecting again")
