"""Which releases a cluster runs, by what it says of itself."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.following.cluster import Cluster, ClusterError
from scheduler.input.manifests.releases import release_of_image
from scheduler.model.releases.release import Scheduler, canonical

_KUEUE_PODS = "/api/v1/namespaces/kueue-system/pods"


def releases_of(cluster: Cluster) -> dict[str, str]:
    """Return the releases that decide in a cluster; what it does not say is left out.

    That of Kubernetes is its API server's, that of Kueue the tag of its manager's image.
    One that is not known here is left out, too.
    """
    found = dict(_said(cluster))
    known = {name: canonical(name, text) for name, text in found.items()}
    return {name: version for name, version in known.items() if version is not None}


def _said(cluster: Cluster) -> Iterator[tuple[Scheduler, str]]:
    """Yield what a cluster says; what may not be read says nothing."""
    version = str(cluster.get("/version").get("gitVersion") or "")
    yield "kubernetes", version.partition("+")[0].partition("-")[0]
    try:
        pods = cluster.get(_KUEUE_PODS, limit="50")["items"]
    except ClusterError as error:
        if error.code in (403, 404):
            return
        raise
    for pod in pods:
        for container in pod["spec"].get("containers") or ():
            found = release_of_image(str(container.get("image") or ""))
            if found is not None:
                yield found
