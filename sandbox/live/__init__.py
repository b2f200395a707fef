"""Live updates: WebSockets, subscriptions, limits on both."""

from __future__ import annotations
