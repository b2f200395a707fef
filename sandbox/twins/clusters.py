"""The clusters that may be followed: the operator's file names them, nobody else does.

Credentials stay in the kubeconfig files that it names: they never come from or go to a
browser or the database.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from django.conf import settings
from django.contrib.auth.models import User

from sandbox.base.errors import InvalidError, NotFoundError
from sandbox.base.refusals import Denied
from sandbox.following.cluster import Cluster
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import in_field
from scheduler.model.sentence import plain
from scheduler.model.texts.values import read_value


class AllowedCluster(
    msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True
):
    """One cluster: a context of a kubeconfig, or that of the pod this runs in.

    `people` are the only ones who may follow it; None = everybody who signs in.
    """

    name: str
    kubeconfig: str = ""
    context: str = ""
    in_cluster: bool = False
    people: list[str] | None = None

    def connect(self) -> Cluster:
        """Return the cluster. Raises ClusterError where the kubeconfig has it not."""
        if self.in_cluster:
            return Cluster.of_pod()
        return Cluster.of_kubeconfig(self.kubeconfig or None, self.context or None)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    clusters: list[AllowedCluster] = []


def allowed(user: User | None = None) -> list[AllowedCluster]:
    """Return the clusters that may be followed, by `user` or by anybody.

    Raises InvalidError naming the file and the field for one that cannot be read.
    """
    if not settings.CLUSTERS_FILE:
        return []
    try:
        text = Path(settings.CLUSTERS_FILE).read_text(encoding="utf-8")
        found = msgspec.convert(
            read_value(text, file=settings.CLUSTERS_FILE) or {}, _File
        )
    except (OSError, SchedulerError, msgspec.ValidationError) as error:
        raise InvalidError(in_field("QUOTALAB_CLUSTERS", plain(error))) from error
    return [
        one
        for one in found.clusters
        if user is None or one.people is None or user.get_username() in one.people
    ]


def of_owner(name: str, owner: User) -> AllowedCluster:
    """Return a cluster that is followed already, while its owner may follow it.

    Raises NotFoundError once the operator's file no longer names the cluster or the
    person, and for a person who was stopped.
    """
    for one in allowed(owner) if owner.is_active else ():
        if one.name == name:
            return one
    raise NotFoundError(Denied.CLUSTER.said(user=owner.get_username(), cluster=name))


def find(name: str, user: User | None = None) -> AllowedCluster:
    """Return the cluster of this name, or the one whose context it is.

    Raises NotFoundError that says which there are.
    """
    known = allowed(user)
    for one in known:
        if one.name == name:
            return one
    named = [one for one in known if one.context == name]
    if len(named) == 1:
        return named[0]
    names = ", ".join(one.name for one in known)
    if names:
        raise NotFoundError(Denied.CLUSTERS.said(cluster=f"{name!r}", known=names))
    raise NotFoundError(Denied.NO_CLUSTERS.said(cluster=f"{name!r}"))
