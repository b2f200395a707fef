"""Which admission checks MultiKueue answers, and whether their clusters are there.

Source: docs/semantics/kueue-multikueue.md#objects-of-multikueue.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import UnsetType

from scheduler.engine.multikueue.workers import Workers
from scheduler.model.admission_check import MULTI_KUEUE, NO_PARAMETERS
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import condition

CHECK = "AdmissionCheck"
CLUSTER = "MultiKueueCluster"
CONFIG = "MultiKueueConfig"
KINDS = frozenset({CHECK, CLUSTER, CONFIG})
#: The condition of a cluster that nobody says anything of.
CONNECTED = {
    "type": "Active",
    "status": "True",
    "reason": "Active",
    "message": "Connected",
}
#: The condition of a cluster that the manager does not reach.
LOST = {
    "type": "Active",
    "status": "False",
    "reason": "ClientConnectionFailed",
    "message": "The cluster is not reached",
}


class CheckObjects:
    """The checks of this controller with their configs and clusters."""

    def __init__(self, workers: Workers) -> None:
        self.workers = workers
        self.objects: dict[Key, Object] = {}  # of KINDS, as the world has them
        self.handled: dict[str, Object] = {}

    def put(self, obj: Object) -> None:
        """Take an object of KINDS."""
        self.objects[obj.key] = obj

    def remove(self, key: Key) -> None:
        """Forget an object."""
        self.objects.pop(key, None)

    def refresh(self) -> Collection[str]:
        """Find out again which checks are handled here; return their names.

        A rule of the policy comes first; so does having no cluster in this world.
        """
        rules = self.workers.host.policy.spec.simulation.admission_checks
        ruled = set() if isinstance(rules, UnsetType) else {r.check for r in rules}
        self.handled = {
            key.name: obj
            for key, obj in sorted(self.objects.items())
            if key.kind == CHECK
            and obj.spec.get("controllerName") == MULTI_KUEUE
            and key.name not in ruled
            and self._has_worker(key.name)
        }
        return self.handled.keys()

    def _has_worker(self, check: str) -> bool:
        clusters = self.clusters(check)
        worlds = self.workers.worlds
        return (
            bool(worlds) if clusters is None else not worlds.keys().isdisjoint(clusters)
        )

    def clusters(self, check: str) -> list[str] | None:
        """Return the clusters of a check's config in its order; None without it."""
        obj = self.objects.get(Key(CHECK, "", check))
        parameters = (obj.spec.get("parameters") or {}) if obj else {}
        config = self.objects.get(Key(CONFIG, "", str(parameters.get("name") or "")))
        if config is None or parameters.get("kind") != CONFIG:
            return None
        return [str(name) for name in config.spec.get("clusters") or ()]

    def order(self) -> list[str]:
        """Return the workers: those of configs in their order, then by name."""
        named = [
            str(cluster)
            for key, obj in sorted(self.objects.items())
            if key.kind == CONFIG
            for cluster in obj.spec.get("clusters") or ()
        ]
        there = self.workers.worlds
        return list(dict.fromkeys([*(n for n in named if n in there), *sorted(there)]))

    def reached(self, cluster: str) -> bool:
        """Return whether the manager is connected to a cluster."""
        obj = self.objects.get(Key(CLUSTER, "", cluster))
        if obj is None or cluster not in self.workers.worlds:
            return False
        return bool(connection(obj)["status"] == "True")

    def conditions(self, check: str) -> list[dict[str, Any]]:
        """Return the conditions that a check has now."""
        clusters = self.clusters(check)
        if clusters is None:
            return [self._bad_config(check)]
        missing = [n for n in clusters if Key(CLUSTER, "", n) not in self.objects]
        inactive = [n for n in clusters if n not in missing and not self.reached(n)]
        if not missing and not inactive:
            return [_active("True", "Active", "The admission check is active")]
        parts = (("Missing", missing), ("Inactive", inactive))
        message = ", ".join(
            f"{word} clusters: [{' '.join(names)}]" for word, names in parts if names
        )
        if len(missing) + len(inactive) < len(clusters):
            return [_active("True", "SomeActiveClusters", message)]
        return [_active("False", "NoUsableClusters", message)]

    def _bad_config(self, check: str) -> dict[str, Any]:
        """Return what is said of a check whose config cannot be found."""
        parameters = self.objects[Key(CHECK, "", check)].spec.get("parameters")
        if not parameters:
            return dict(NO_PARAMETERS)
        name, kind = str(parameters.get("name") or ""), parameters.get("kind") or ""
        why = f'{CONFIG}.kueue.x-k8s.io "{name}" not found'
        if not name:
            why = "empty name: bad parameters reference"
        elif kind != CONFIG:
            why = f'wrong kind "{kind}", expecting "{CONFIG}": bad parameters reference'
        message = f"Cannot load the AdmissionChecks parameters: {why}"
        return _active("False", "BadConfig", message)


def connection(cluster: Object) -> Mapping[str, Any]:
    """Return the condition Active of a MultiKueueCluster: connected if not said."""
    return condition(cluster.status, "Active") or CONNECTED


def _active(status: str, reason: str, message: str) -> dict[str, Any]:
    return {"type": "Active", "status": status, "reason": reason, "message": message}
