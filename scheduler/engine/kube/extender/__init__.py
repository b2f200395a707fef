"""Scheduler extenders: webhooks asked through a port."""

from __future__ import annotations
