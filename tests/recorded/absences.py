"""What a run of a recording leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from scheduler.recorded.absences import QUEUES, Effects, kinds_of_work
from scheduler.recorded.qrec.reading import Followed, Manifest, place_of

#: Of the world that a recording runs again.
RERUN: Effects = {
    "Job": "nothing arrives, and there is no admission to compare",
    **QUEUES,
    "Node": "pods are placed nowhere and start after the usual time",
    "Pod": "no other pods (of DaemonSets, say) fill nodes, and no pod is measured",
}
#: Of the watch, from which `--latencies recorded` measures.
MEASURED: Effects = {
    "Workload": "how long admission, eviction and completion took is not measured",
}
#: What a run takes as it stood at its begin.
_STANDING = frozenset(
    {
        "AdmissionCheck",
        "ClusterQueue",
        "Cohort",
        "LocalQueue",
        "Node",
        "PriorityClass",
        "ResourceFlavor",
        "Topology",
        "WorkloadPriorityClass",
    }
)


def not_replayed(found: Followed, place: str) -> list[str]:
    """Return a sentence for each part of a recording that a run of it leaves out.

    These are changes of queues and nodes, work other than batch Jobs, Workloads that
    were deactivated, and outages of the recorder. Cost: one pass.
    """
    kinds = kinds_of_work()
    inactive = _deactivated(found)
    specs = {place_of(item): item.get("spec") for item in found.standing}
    changed: Counter[str] = Counter()
    other = {at for at in specs if at[0] in kinds and at[0] not in ("Job", "Pod")}
    for seen in found.events:
        at, spec = place_of(seen.object), seen.object.get("spec")
        if at[0] in _STANDING:
            changed[at[0]] += seen.type == "DELETED" or specs.get(at, at) != spec
            specs[at] = spec
        elif at[0] in kinds and at[0] not in ("Job", "Pod"):
            other.add(at)
    notes = []
    if said := _counted(+changed):
        notes.append(f"{place}: changes that a run does not replay: {said}")
    if said := _counted(Counter(at[0] for at in other)):
        notes.append(
            f"{place}: work that does not arrive in a run, batch Jobs alone do: {said}"
        )
    if inactive:
        notes.append(
            f"{place}: {inactive} Workloads were deactivated (spec.active: false); a run "
            "does not repeat a deactivation by a person"
        )
    if found.gaps:
        seconds = sum(until - since for since, until, _, _ in found.gaps) // 1_000_000
        notes.append(
            f"{place}: {len(found.gaps)} outages of the recorder, {seconds} s in all; "
            "what changed in an outage counts from its end"
        )
    return notes


def _deactivated(found: Followed) -> int:
    """Return how many Workloads were active and became inactive."""
    active = {
        place_of(item): _is_active(item)
        for item in found.standing
        if item["kind"] == "Workload"
    }
    turned_off = set()
    for seen in found.events:
        if seen.object["kind"] == "Workload":
            at, now = place_of(seen.object), _is_active(seen.object)
            if active.get(at, True) and not now:
                turned_off.add(at)
            active[at] = now
    return len(turned_off)


def _is_active(workload: Manifest) -> bool:
    return (workload.get("spec") or {}).get("active") is not False


def _counted(kinds: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
