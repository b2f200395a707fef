"""What is served: the table of kinds as API resources with their short names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from api.cluster import refusals
from scheduler.input.manifests import kinds
from scheduler.input.manifests.kinds import KUEUE, Kind
from scheduler.input.manifests.versions import to_older
from scheduler.model import schemas

#: Plural -> the names that kubectl users type; Kueue's definitions have their own.
SHORT_NAMES: dict[str, list[str]] = {
    "nodes": ["no"],
    "pods": ["po"],
    "namespaces": ["ns"],
    "events": ["ev"],
    "configmaps": ["cm"],
    "services": ["svc"],
    "priorityclasses": ["pc"],
    "poddisruptionbudgets": ["pdb"],
    "deployments": ["deploy"],
    "replicasets": ["rs"],
    "statefulsets": ["sts"],
    "daemonsets": ["ds"],
    "cronjobs": ["cj"],
    "podgroups": ["pg", "pgs"],
    "elasticquotas": ["eq", "eqs"],
    "limitranges": ["limits"],
    "persistentvolumeclaims": ["pvc"],
    "persistentvolumes": ["pv"],
    "storageclasses": ["sc"],
    "serviceaccounts": ["sa"],
    "resourcequotas": ["quota"],
    "replicationcontrollers": ["rc"],
    "componentstatuses": ["cs"],
    "endpoints": ["ep"],
    "ingresses": ["ing"],
    "networkpolicies": ["netpol"],
    "horizontalpodautoscalers": ["hpa"],
    "verticalpodautoscalers": ["vpa"],
    "customresourcedefinitions": ["crd", "crds"],
    "provisioningrequests": ["provreq", "provreqs"],
}
VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update"]
EVENTS = ("", "v1", "events")


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind in one served version."""

    kind: Kind
    version: str

    @property
    def group_version(self) -> str:
        """Return the apiVersion of the resource's objects."""
        group = self.kind.group
        return f"{group}/{self.version}" if group else self.version

    @property
    def full_name(self) -> str:
        """Return `plural.group`, as error messages name it."""
        group = self.kind.group
        return f"{self.kind.plural}.{group}" if group else self.kind.plural

    @property
    def is_built_in(self) -> bool:
        """Return whether Kubernetes itself has it; else it is a custom resource."""
        return schemas.is_built_in(self.kind.group)

    @property
    def type_(self) -> str:
        """Return its published type; "" where none is in the schemas."""
        return schemas.named(self.kind.group, self.version, self.kind.kind)

    @property
    def has_status(self) -> bool:
        """Return whether its objects report a status."""
        return not self.type_ or "status" in schemas.fields_of(self.type_)

    @property
    def definition(self) -> schemas.Definition | None:
        """Return how a kind of Kueue is shown; None of any other."""
        return schemas.definition_of(self.kind.group, self.version, self.kind.kind)

    @property
    def short_names(self) -> list[str]:
        """Return what kubectl users type for the plural."""
        found = self.definition
        return found.short if found else SHORT_NAMES.get(self.kind.plural, [])

    @property
    def is_events(self) -> bool:
        """Return whether these are core Events, which are made of our own events."""
        return (self.kind.group, self.version, self.kind.plural) == EVENTS

    @property
    def verbs(self) -> list[str]:
        """Return the verbs that discovery lists for the resource."""
        if self.is_events:
            return ["list", "watch"]
        verbs = [*VERBS, "watch"]
        if self.kind.kind == "Namespace":
            verbs.remove("deletecollection")  # one by one, with all that is in them
        return verbs


SERVED: dict[tuple[str, str, str], Resource] = {
    (kind.group, version, kind.plural): Resource(kind, version)
    for kind in kinds.TABLE
    if kind.plural
    for version in kind.versions
    if kind.group != KUEUE or schemas.named(kind.group, version, kind.kind)
}


def groups() -> dict[str, list[str]]:
    """Return every named group with its versions, the preferred one first."""
    found: dict[str, list[str]] = {}
    for group, version, _ in SERVED:
        versions = found.setdefault(group, [])
        if group and version not in versions:
            versions.append(version)
    return {group: versions for group, versions in found.items() if group}


def resources_of(group: str, version: str) -> list[Resource]:
    """Return the resources of a group version, by name."""
    found = [r for (g, v, _), r in SERVED.items() if (g, v) == (group, version)]
    return sorted(found, key=lambda resource: resource.kind.plural)


def has_kind(group_version: str, kind: str) -> bool:
    """Return whether a kind is served in a group and version."""
    found = resources_of(*kinds.split(group_version))
    return any(one.kind.kind == kind for one in found)


def has_version(group_version: str) -> bool:
    """Return whether a group and version is served."""
    group, version = kinds.split(group_version)
    return bool(resources_of(group, version))


def find(group: str, version: str, plural: str) -> Resource:
    """Return a resource; the API server's sentence when there is none."""
    found = SERVED.get((group, version, plural))
    if found is None:
        raise refusals.not_served()
    return found


# ------------------------------------------------------------------------
# The served version back to an older one, for clients that speak that one.


Manifest = dict[str, Any]


def in_version(document: Manifest, resource: Resource) -> Manifest:
    """Return the document as the resource's version writes it."""
    written = {**document, "apiVersion": resource.group_version}
    if resource.kind.group == KUEUE and resource.version != resource.kind.versions[0]:
        return to_older(written)
    return written
