"""What waits: pending queues, requeueing, backoff and deadlines."""

from __future__ import annotations
