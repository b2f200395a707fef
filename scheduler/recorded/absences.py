"""What a recording leaves out, and what that changes for what is made of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from scheduler.model import registry
from scheduler.model.kueue.configuration import Settings
from scheduler.recorded.qrec.reading import Followed, Manifest, place_of

Effects = Mapping[str, str]  # kind -> what its absence changes

_NOTHING = "nothing is admitted"
QUEUES = {
    "ClusterQueue": f"there is no quota, and {_NOTHING}",
    "LocalQueue": f"no work finds its ClusterQueue, and {_NOTHING}",
    "ResourceFlavor": f"no quota can be used, and {_NOTHING}",
}
_COHORT = "cohorts that ClusterQueues name have no parent, quota or weight of their own"
_KUEUE = frozenset(QUEUES) | {"Workload"}
#: Of pods that are taken without the claims they name.
_CLAIMS = {
    "PersistentVolumeClaim": "pods claim volumes that were not recorded, and are taken "
    "without: they may be placed where their volume is not",
    "ResourceClaim": "pods claim devices whose classes and slices were not recorded, "
    "and are taken without: they may be placed where no device is free",
}
#: Of the state that a real decision is judged from.
SHADOW: Effects = {**QUEUES, "Workload": "there is no decision to compare"}
#: Of what a sandbox shows of a real cluster.
TWIN: Effects = {
    **QUEUES,
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


def kinds_of_work() -> set[str]:
    """Return the kinds that Kueue makes a Workload of."""
    return {entry.name for entry in registry.entries("job-kind")}
