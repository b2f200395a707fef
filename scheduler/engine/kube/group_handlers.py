"""Groups of pods and quotas of namespaces, in and out, to every scheduler."""

from __future__ import annotations

from scheduler.engine.kube.cache.elastic_quotas import ELASTIC_QUOTA, read_elastic_quota
from scheduler.engine.kube.cache.gangs import KINDS as GANG_KINDS
from scheduler.engine.kube.cache.pod_group import read_group
from scheduler.engine.kube.framework import events
from scheduler.engine.kube.framework.events import Event
from scheduler.engine.kube.shared_cluster import SharedCluster
from scheduler.model.objects import Key, Object

_POD_GROUP = "PodGroup"
KINDS = (_POD_GROUP, ELASTIC_QUOTA, *GANG_KINDS)


class GroupHandlers:
    """Takes PodGroups of either API, Workloads of gangs and ElasticQuotas."""

    def __init__(self, shared: SharedCluster) -> None:
        self.shared = shared

    def put(self, obj: Object, *, restore: bool) -> None:
        """Take an object that is new, changed or stored; wake the pods that wait for it."""
        if obj.key.kind == _POD_GROUP:
            event = self._put_group(obj)
        elif obj.key.kind == ELASTIC_QUOTA:
            event = self._put_quota(obj)
        else:
            added = self.shared.gangs.put(obj.key, obj.spec)
            name = events.GANG_ADDED if added else events.GANG_CHANGED
            event = Event(name, new=obj.key)
        if not restore:
            self.shared.notify(event)

    def _put_group(self, obj: Object) -> Event:
        group = read_group(obj.manifest, obj.key.namespace)
        known = obj.key in self.shared.schedulers[0].cluster.groups
        for cluster in self.shared.clusters():
            cluster.groups[obj.key] = group
        name = events.GROUP_CHANGED if known else events.GROUP_ADDED
        return Event(name, new=group)

    def _put_quota(self, obj: Object) -> Event:
        quota = read_elastic_quota(obj.manifest, obj.key)
        for cluster in self.shared.clusters():
            cluster.quotas[quota.namespace] = quota
        return Event(events.QUOTA_CHANGED, new=quota)

    def remove(self, key: Key) -> None:
        """Forget an object."""
        self.shared.gangs.remove(key)
        for cluster in self.shared.clusters():
            cluster.groups.pop(key, None)
            if key.kind == ELASTIC_QUOTA:
                cluster.quotas.pop(key.namespace, None)
        if key.kind == ELASTIC_QUOTA:
            self.shared.notify(Event(events.QUOTA_CHANGED, old=key))
