"""Names of its own for a script on a cluster that is not its own.

Every namespace and every object of the cluster gets a mark before its name, wherever
a document names it; what the cluster shows is shown without the mark.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

from api.proving.resources import OF_CLUSTER, Place
from scheduler.model.amounts import is_whole

#: Fields and labels whose value is the name of a namespace or of a cluster's object.
_NAMES = frozenset(
    {
        "clusterQueue",
        "cohort",
        "cohortName",
        "namespace",
        "nodeName",
        "parentName",
        "priorityClassName",
        "runtimeClassName",
        "topologyName",
        "kubernetes.io/hostname",
        "kubernetes.io/metadata.name",
        "kueue.x-k8s.io/priority-class",
    }
)
#: Fields with a list of such names, of objects with a `name`, or a map to names.
_LISTS = frozenset(
    {"admissionChecks", "flavors", "namespaces", "onFlavors", "priorityClassRef"}
)
_BUILT_IN = "system-"  # PriorityClasses that every cluster has
_EXPRESSION = {"key", "operator", "values"}


@dataclass(frozen=True, slots=True)
class Naming:
    """A mark, such as `prove-1f3a-`, and its way in and out of documents."""

    mark: str

    def place(self, place: Place) -> Place:
        """Return where an object is on the cluster."""
        namespace = place.namespace and self._name(place.namespace)
        name = place.name
        if name and place.kind in OF_CLUSTER:
            name = self._name(name)
        return replace(place, namespace=namespace, name=name)

    def document(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return a manifest as the cluster gets it."""
        made: dict[str, Any] = self.value(copy.deepcopy(given))
        metadata = made.get("metadata") or {}
        for field in ("name", "generateName"):
            if made.get("kind") in OF_CLUSTER and metadata.get(field):
                metadata[field] = self._name(metadata[field])
        return made

    def patch(self, given: Any) -> Any:
        """Return a patch as the cluster gets it: a merge patch, or operations."""
        if not isinstance(given, list):
            return self.value(given)
        return [
            {**one, "value": self.value(one["value"], _field(one["path"]))}
            if "value" in one
            else one
            for one in given
        ]

    def value(self, value: Any, field: str = "") -> Any:
        """Return the value of a field with the mark before each name in it."""
        if isinstance(value, list):
            return [self.value(one, field) for one in value]
        if isinstance(value, dict):
            if {*value} <= _EXPRESSION and value.get("key") in _NAMES:
                named = [self._name(one) for one in value.get("values") or []]
                return {**value, "values": named}
            return {name: self._member(field, name, one) for name, one in value.items()}
        if isinstance(value, str) and field in (_NAMES | _LISTS):
            return self._name(value)
        return value

    def shown(self, value: Any) -> Any:
        """Return what a cluster answers without the mark."""
        if isinstance(value, str):
            return value.replace(self.mark, "")
        if isinstance(value, list):
            return [self.shown(one) for one in value]
        if isinstance(value, dict):
            return {self.shown(name): self.shown(one) for name, one in value.items()}
        return value

    def _member(self, field: str, name: str, value: Any) -> Any:
        if isinstance(value, str) and field in _LISTS:
            # {name: spot} in a list; of an admission {cpu: spot}.
            is_name = field == "flavors" or name == "name"
            return self._name(value) if is_name else value
        return self.value(value, name)

    def _name(self, name: str) -> str:
        if not name or name.startswith((_BUILT_IN, self.mark)):
            return name
        return f"{self.mark}{name}"


def _field(path: str) -> str:
    """Return the last name in a JSON pointer that is no index."""
    parts = [part for part in path.split("/") if part and not is_whole(part)]
    named = [part for part in parts if part != "-"]
    return named[-1].replace("~1", "/").replace("~0", "~") if named else ""
