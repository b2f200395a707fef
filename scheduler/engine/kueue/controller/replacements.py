"""What comes of a second pass: other places, or an eviction.

Source: docs/semantics/kueue-topology.md#second-pass.
"""

from __future__ import annotations

from scheduler.engine.kueue.cache.assumed import stands_of
from scheduler.engine.kueue.controller.admissions import become_admitted, emit_admission
from scheduler.engine.kueue.controller.evictions import evict
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.scheduler.entries import Entry
from scheduler.engine.kueue.topology.cache import ReservedDomains
from scheduler.model.decisions import Replace
from scheduler.model.reasons import (
    NODE_FAILURES,
    NODE_REPLACED,
    no_replacement,
    replaced,
)


def replace(life: Lifecycle, entry: Entry) -> None:
    """Store the new assignment of a workload; nothing else of it changes."""
    assert entry.assignment is not None
    work = entry.work
    nodes = work.unhealthy_nodes
    work.admission = entry.assignment.admission(entry.queue.name)
    if work.topology is not None:
        work.topology.release()
    work.topology = ReservedDomains(life.cluster.topologies, stands_of(work), work)
    work.unhealthy_nodes = ()
    life.context.journal.touch(work.key)
    if nodes:
        emit_admission(life, work, Replace, NODE_REPLACED, replaced(nodes[0]))
    else:  # these are its first places
        become_admitted(life, work)
    life.note_second_pass(work)


def evict_for_node(life: Lifecycle, entry: Entry) -> None:
    """Evict a workload whose pods have no other place, or let it try again later."""
    work = entry.work
    if work.evicted:
        return
    if not work.unhealthy_nodes:  # no room for its first places: it tries again
        life.note_second_pass(work)
        return
    if life.cluster.topologies.gates.fail_fast:
        message = no_replacement(work.unhealthy_nodes)
        evict(life, work, NODE_FAILURES, message)
    else:
        life.note_second_pass(work)
