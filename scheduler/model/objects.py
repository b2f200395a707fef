"""One object of the cluster: its manifest, its status, and the state of its schedulers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scheduler.model.annotations import CLUSTER


class Key(NamedTuple):
    """The name of an object: kind, namespace ("" when cluster-wide), name."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.namespace}/{self.name}"

    @property
    def path(self) -> str:
        """Return `namespace/name`, or the bare name of a cluster-wide object."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(slots=True, kw_only=True)
class Object:
    """An object as stored: everything a stage needs to take it up again.

    `manifest` is the whole document as served (newest version, no status);
    `status` what the API would show; `state` what the stages keep for
    themselves, one entry per stage, plain msgpack values. Writing all objects
    and the header of a world, and loading them again, must change no decision.
    """

    key: Key
    manifest: dict[str, Any]
    status: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def metadata(self) -> dict[str, Any]:
        """Return the manifest's metadata."""
        metadata: dict[str, Any] = self.manifest["metadata"]
        return metadata

    @property
    def spec(self) -> dict[str, Any]:
        """Return the manifest's spec; empty for kinds without one."""
        spec: dict[str, Any] = self.manifest.get("spec") or {}
        return spec

    @property
    def uid(self) -> str:
        """Return the UID, which the world has filled in."""
        return str(self.manifest["metadata"].get("uid", ""))

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels; empty when there are none."""
        return self.manifest["metadata"].get("labels") or {}

    @property
    def annotations(self) -> dict[str, str]:
        """Return the annotations; empty when there are none."""
        return self.manifest["metadata"].get("annotations") or {}


# -- the cluster that an object lives in: the manager, or one of its workers
#
# A worker's object stands in the manager's table under a key with the cluster
# before its name, `Node//worker-1:n1`. Its manifest keeps its own name and names
# the cluster in an annotation. See docs/decisions/clusters-are-linked-worlds.md.

MARK = ":"
#: The kinds that may have a colon in their names, as those of RBAC and of OpenShift's
#: people and images; none is simulated.
COLON_NAMES = frozenset(
    {
        *("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
        *("Group", "Identity", "User", "UserIdentityMapping"),
        *("ImageStreamImage", "ImageStreamTag", "ImageTag"),
    }
)


#: The label that an API server gives each namespace, whatever is given.
NAMESPACE_NAME = "kubernetes.io/metadata.name"


def namespace_labels(name: str, labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of a namespace with the one that an API server gives each."""
    return {**labels, NAMESPACE_NAME: name}


def cluster_of(key: Key) -> str:
    """Return the worker cluster that a key is of; "" for the manager's own."""
    if MARK not in key.name or key.kind in COLON_NAMES:
        return ""
    return key.name.partition(MARK)[0]


def qualified(key: Key, cluster: str) -> Key:
    """Return the key under which the manager knows an object of a cluster."""
    if not cluster or key.kind in COLON_NAMES:
        return key
    return key._replace(name=qualified_name(key.name, cluster))


def qualified_name(name: str, cluster: str) -> str:
    """Return a name with its cluster before it; "" stays ""."""
    return f"{cluster}{MARK}{name}" if cluster and name else name


def plain(key: Key) -> Key:
    """Return the key of an object inside its cluster."""
    if not cluster_of(key):
        return key
    return key._replace(name=key.name.partition(MARK)[2])


def cluster_named_in(manifest: Mapping[str, Any]) -> str:
    """Return the cluster that a manifest names; "" for the manager."""
    metadata = manifest.get("metadata") or {}
    return str((metadata.get("annotations") or {}).get(CLUSTER) or "")


def stored_key(manifest: Mapping[str, Any]) -> Key:
    """Return the key under which the manager stores a served manifest."""
    metadata = manifest["metadata"]
    key = Key(manifest["kind"], metadata.get("namespace", ""), metadata["name"])
    return qualified(key, cluster_named_in(manifest))


def name_cluster(manifest: dict[str, Any], cluster: str) -> None:
    """Write into a manifest which cluster its object lives in."""
    metadata = manifest["metadata"]
    given = metadata.get("annotations") or {}
    if given.get(CLUSTER) != cluster:
        metadata["annotations"] = {**given, CLUSTER: cluster}
