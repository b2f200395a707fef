"""What a recording leaves out, and what that changes for what is made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from scheduler.model import registry
from scheduler.model.kueue.configuration import Settings
from scheduler.recorded.qrec.reading import Followed, Manifest, place_of

Effects = Mapping[str, str]  # kind -> what its absence changes

_NOTHING = "nothing is admitted"
_QUEUES = {
    "ClusterQueue": f"there is no quota, and {_NOTHING}",
    "LocalQueue": f"no work finds its ClusterQueue, and {_NOTHING}",
    "ResourceFlavor": f"no quota can be used, and {_NOTHING}",
}
_COHORT = "cohorts that ClusterQueues name have no parent, quota or weight of their own"
_KUEUE = frozenset(_QUEUES) | {"Workload"}
#: Of pods that are taken without the claims they name.
_CLAIMS = {
    "PersistentVolumeClaim": "pods claim volumes that were not recorded, and are taken "
    "without: they may be placed where their volume is not",
    "ResourceClaim": "pods claim devices whose classes and slices were not recorded, "
    "and are taken without: they may be placed where no device is free",
}
#: Of the world that a recording runs again.
RERUN: Effects = {
    "Job": "nothing arrives, and there is no admission to compare",
    **_QUEUES,
    "Node": "pods are placed nowhere and start after the usual time",
    "Pod": "no other pods (of DaemonSets, say) fill nodes, and no pod is measured",
}
#: Of the watch, from which `--latencies recorded` measures.
MEASURED: Effects = {
    "Workload": "how long admission, eviction and completion took is not measured",
}
#: Of the state that a real decision is judged from.
SHADOW: Effects = {
    **_QUEUES,
    "Workload": "there is no decision to compare",
}
#: Of what a sandbox shows of a real cluster.
TWIN: Effects = {
    **_QUEUES,
    "Workload": "nothing waits, and no decision is compared",
    "Node": "no node is shown, and a fork places pods nowhere",
    "Pod": "what runs is not shown, nor for how long it ran",
}


def absent_kinds(kinds: Collection[str], effects: Effects, place: str) -> list[str]:
    """Return a sentence per kind that `place` has no object of."""
    return [
        f"{place}: no {kind} in it: {effect}"
        for kind, effect in effects.items()
        if kind not in kinds
    ]


def with_fair_sharing(effects: Effects, settings: Settings) -> Effects:
    """Return the effects with that of Cohorts, where shares are weighed in them."""
    return {**effects, "Cohort": _COHORT} if settings.fair else effects


def without_configuration(place: str) -> str:
    """Say what is assumed where nothing says how Kueue was configured."""
    return (
        f"{place}: no Configuration of Kueue in it (config.yaml of a folder, ConfigMap "
        "kueue-manager-config of a cluster): its defaults are assumed, without "
        "waitForPodsReady, fair sharing or resource transformations"
    )


def notes_on(
    found: Followed,
    settings: Settings | None,
    effects: Effects,
    place: str,
    read: Collection[str] = (),
) -> list[str]:
    """Return a sentence for each thing that a recording of Kueue leaves out.

    `settings` are those of its Configuration, None without one; `read` the kinds
    whose begin counts, all when it is empty. Of another scheduler's cluster only
    the claims of its pods are looked at. Cost: one pass.
    """
    notes = [f"{place}: {_CLAIMS[kind]}" for kind in sorted(found.without)]
    kinds = {item["kind"] for item in found.standing}
    kinds |= {seen.object["kind"] for seen in found.events}
    if not kinds & _KUEUE:
        return notes
    notes += [] if settings else [without_configuration(place)]
    weighed = with_fair_sharing(effects, settings or Settings())
    notes += absent_kinds(kinds, weighed, place)
    changes = ((seen.type, seen.object) for seen in found.events)
    return notes + late_begin(found.standing, changes, place, read)


def late_begin(
    standing: Iterable[Manifest],
    changes: Iterable[tuple[str, Manifest]],
    place: str,
    read: Collection[str] = (),
) -> list[str]:
    """Say so where objects change (type, object) that nothing showed before."""
    shown = {place_of(item) for item in standing}
    late = 0
    for change, item in changes:
        found = place_of(item)
        if found not in shown and (not read or found[0] in read):
            shown.add(found)
            late += change != "ADDED"
    if not late:
        return []
    return [
        f"{place}: {late} objects change that neither the begin nor an ADDED event "
        "shows: it begins too late, and what was decided before is not known"
    ]


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


def kinds_of_work() -> set[str]:
    """Return the kinds that Kueue makes a Workload of."""
    return {entry.name for entry in registry.entries("job-kind")}


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
