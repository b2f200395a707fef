"""The interface of a policy, by the name by which plug-ins import it; docs/policies.md."""

from __future__ import annotations

from scheduler.model.proposals import *  # noqa: F403 - the same names
