"""A process whose acknowledgement was lost takes tasks again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kombu import Connection

from sandbox.worker.pool import refuse_full

QUEUE = "lost-acks"


@pytest.fixture
def channel() -> Iterator[Any]:
    """A channel that takes one message at a time, with two waiting."""
    with Connection("memory://") as connection:
        queue = connection.SimpleQueue(QUEUE)
        for body in ("one", "two"):
            queue.put(body)
        queue.channel.basic_qos(0, 1, False)
        yield queue.channel
        queue.clear()


def test_a_channel_with_room_is_left_alone(channel):
    message = channel.basic_get(QUEUE)
    message.ack()
    assert refuse_full(channel) is None


def test_a_message_that_was_never_acknowledged_ends_the_connection(channel):
    channel.basic_get(QUEUE)
    with pytest.raises(ConnectionError, match="could not be acknowledged"):
        refuse_full(channel)
