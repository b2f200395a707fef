"""Manifests of Volcano and KAI in Kueue's terms, with what is lost."""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.analysis.conversion.foreign import kai, volcano
from scheduler.analysis.conversion.foreign.writing import Manifest, Writing

__all__ = ["Manifest", "Writing", "convert"]

_SYSTEMS = {"Volcano": volcano, "KAI": kai}


def convert(
    documents: Iterable[Manifest], *, nodes: Iterable[Manifest] = ()
) -> Writing:
    """Return Kueue manifests for these documents; documents of other kinds stay.

    Nothing given is changed; what could not be carried over is in `losses`. Queues
    become ClusterQueues and Cohorts with a LocalQueue in each namespace that jobs
    come from. `nodes` beside them count for the cluster's size. Cost: O(documents).
    """
    writing = Writing(documents, nodes=nodes)
    for name, system in _SYSTEMS.items():
        mine = [one for one in writing.rest if system.is_mine(one)]
        if mine or system.names_queues(writing.rest):
            writing.rest = [one for one in writing.rest if not system.is_mine(one)]
            writing.systems.append(name)
            system.write(writing, mine)
    return writing
