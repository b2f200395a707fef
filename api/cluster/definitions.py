"""What a cluster has from its beginning: definitions, first namespaces, system classes.

They are no objects of the simulation: a definition of a custom kind is made of the
table of kinds and of the published types. Nobody writes them, and a watch does not
show them.

Source: CustomResourceDefinition (apiextensions.k8s.io/v1) of
<https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/>
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from api.cluster.openapi.kind_schemas import schema_of
from api.cluster.resources import SERVED, Resource

Document = dict[str, Any]
_SPACE = uuid.UUID("9e0a4f1c-7d0b-4d7c-8f43-3f6f6f1a2d55")


def documents(created: str) -> Iterator[Document]:
    """Yield the definitions by name; they came when the sandbox began."""
    kinds: dict[str, list[Resource]] = {}
    for resource in SERVED.values():
        if not resource.is_built_in:
            kinds.setdefault(resource.full_name, []).append(resource)
    for name in sorted(kinds):
        yield _document(name, kinds[name], created)


def _document(name: str, served: list[Resource], created: str) -> Document:
    first = served[0]
    kind = first.kind
    names: Document = {
        "plural": kind.plural,
        "singular": kind.kind.lower(),
        **({"shortNames": first.short_names} if first.short_names else {}),
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
    }
    said = (
        ("NamesAccepted", "NoConflicts", "no conflicts found"),
        ("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    )
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": name,
            "uid": str(uuid.uuid5(_SPACE, name)),
            "resourceVersion": "1",
            "generation": 1,
            "creationTimestamp": created,
        },
        "spec": {
            "group": kind.group,
            "names": names,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [_version(one, stored=one is first) for one in served],
            "conversion": {"strategy": "None"},
        },
        "status": {
            "conditions": [
                {
                    "type": type_,
                    "status": "True",
                    "lastTransitionTime": created,
                    "reason": reason,
                    "message": message,
                }
                for type_, reason, message in said
            ],
            "acceptedNames": names,
            "storedVersions": [first.version],
        },
    }


def _version(resource: Resource, *, stored: bool) -> Document:
    found = resource.definition
    made: Document = {"name": resource.version, "served": True, "storage": stored}
    if found and found.warning:
        made |= {"deprecated": True, "deprecationWarning": found.warning}
    made["schema"] = {"openAPIV3Schema": schema_of(resource)}
    made["subresources"] = {"status": {}}
    if found and found.columns:
        made["additionalPrinterColumns"] = [
            {
                "name": name,
                "type": type_,
                "jsonPath": path,
                **({"priority": priority} if priority else {}),
            }
            for name, type_, path, priority in found.columns
        ]
    if found and found.selectable:
        made["selectableFields"] = [{"jsonPath": f".{f}"} for f in found.selectable]
    return made


def first_namespaces(names: Iterable[str], created: str) -> Iterator[Document]:
    """Yield namespaces that a cluster has from its beginning."""
    for name in sorted(names):
        metadata = _first(name, created)
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


#: name -> (value, what is said of its pods).
SYSTEM_CLASSES = {
    "system-cluster-critical": (
        2_000_000_000,
        "must run in the cluster, but can be moved to another node if necessary.",
    ),
    "system-node-critical": (
        2_000_001_000,
        "must not be moved from their current node.",
    ),
}


def system_classes(created: str) -> Iterator[Document]:
    """Yield the PriorityClasses that a cluster has from its beginning."""
    for name, (value, what) in SYSTEM_CLASSES.items():
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {**_first(name, created), "generation": 1},
            "value": value,
            "description": f"Used for system critical pods that {what}",
        }


def _first(name: str, created: str) -> Document:
    return {
        "name": name,
        "uid": str(uuid.uuid5(_SPACE, name)),
        "resourceVersion": "1",
        "creationTimestamp": created,
    }
