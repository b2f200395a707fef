"""Nodes that fail under admitted workloads, and that are well again.

Source: docs/semantics/kueue-topology.md#failed-nodes.
"""

from __future__ import annotations

from scheduler.engine.kueue.cache.assumed import stands_of
from scheduler.engine.kueue.controller.admissions import become_admitted, emit_admission
from scheduler.engine.kueue.controller.evictions import evict
from scheduler.engine.kueue.controller.lifecycle import Lifecycle
from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.engine.kueue.topology.cache import ReservedDomains
from scheduler.engine.kueue.topology.replacement import stands_on
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.decisions import Replace
from scheduler.model.node import HOSTNAME
from scheduler.model.reasons import (
    NODE_FAILURES,
    NODE_REPLACED,
    no_replacement,
    replaced,
    several_node_failures,
)
from scheduler.model.selectors import NO_EXECUTE, tolerated


def note_node(life: Lifecycle, name: str) -> None:
    """Look at the workloads on a node that came, changed or went."""
    cache = life.cluster.topologies
    node = cache.nodes.get(name)
    host = node.labels.get(HOSTNAME, name) if node is not None else name
    for held in list(cache.holders):
        work = held.work
        if work is None or work.evicted or not _stands(work, host):
            continue
        failed = node is None or (
            not life.runs_on(work.key, name)
            and (not node.ready or _driven_off(life, work, name, host))
        )
        if failed and host not in work.unhealthy_nodes:
            _fail(life, work, host)
        elif not failed and host in work.unhealthy_nodes:
            _recover(life, work, host)


def _stands(work: WorkloadInfo, host: str) -> bool:
    return work.admission is not None and any(
        stands_on(part.topology, host) for part in work.admission.pod_sets
    )


def _driven_off(life: Lifecycle, work: WorkloadInfo, name: str, host: str) -> bool:
    """Return whether the node's taints drive this workload's pods off at once."""
    assert work.admission is not None
    node = life.cluster.topologies.nodes[name]
    taints = [taint for taint in node.taints if taint.effect == NO_EXECUTE]
    if not taints or not life.cluster.topologies.gates.node_taints:
        return False
    needs = {part.name: part.needs for part in work.pod_sets}
    for part in work.admission.pod_sets:
        if not stands_on(part.topology, host) or part.name not in needs:
            continue
        known = life.cluster.flavors
        flavors = [known[f] for f in set(part.flavors.values()) if f in known]
        tolerations = (
            *needs[part.name].tolerations,
            *(each for flavor in flavors for each in flavor.tolerations),
        )
        if not all(tolerated(taint, tolerations) for taint in taints):
            return True
    return False


def _fail(life: Lifecycle, work: WorkloadInfo, host: str) -> None:
    work.unhealthy_nodes = (*work.unhealthy_nodes, host)
    life.context.journal.touch(work.key)
    if len(work.unhealthy_nodes) > 1:
        message = several_node_failures(work.unhealthy_nodes)
        evict(life, work, NODE_FAILURES, message)
    else:
        life.note_second_pass(work)


def _recover(life: Lifecycle, work: WorkloadInfo, host: str) -> None:
    work.unhealthy_nodes = tuple(n for n in work.unhealthy_nodes if n != host)
    life.context.journal.touch(work.key)
    life.note_second_pass(work)


# ------------------------------------------------------------------------
# What comes of a second pass: other places, or an eviction.


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
