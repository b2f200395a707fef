"""YuniKorn: applications on a tree of queues, as yunikorn-core places them."""

from __future__ import annotations
