"""Webhooks that the creation of a pod calls: which are up, and what comes of one that is not.

Source: docs/semantics/controllers.md#webhooks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from scheduler.engine.kueue.topology.tree import is_ready
from scheduler.engine.lifetime.continuing import TaintEviction
from scheduler.engine.lifetime.runtime_state import NODE
from scheduler.model.objects import Key, Object, cluster_of, namespace_labels, qualified
from scheduler.model.reasons import has_ended, is_true
from scheduler.model.selectors import labels_selected, read_selector
from scheduler.model.webhooks import Webhook, read_webhooks


class Webhooks:
    """The webhooks of the world, those of mutating configurations first, each kind by name.

    Cost: nothing without a configuration; else, per pod that is made and webhook whose
    Service is there, one look at the pod that served it last, or at all objects.
    """

    def __init__(self, lifetime: TaintEviction) -> None:
        self.lifetime = lifetime
        self.known: dict[Key, tuple[Webhook, ...]] = {}
        #: The pod of a Service that was ready when it was looked at; it is looked at first.
        self._last: dict[Key, Key] = {}

    def note(self, obj: Object) -> None:
        """Keep the webhooks of a configuration that pods are made past."""
        self.known[obj.key] = read_webhooks(obj.key, obj.manifest)

    def forget(self, key: Key) -> None:
        """Forget a configuration that is deleted."""
        self.known.pop(key, None)

    def admit(self, pod: Object) -> str:
        """Give a new pod what webhooks set; return why it cannot be made, "" where it can."""
        for webhook in self.called(pod.key, pod.labels):
            if not self.is_down(webhook):
                webhook.mutate(pod.spec)
            elif webhook.fails:
                return webhook.failure()
        return ""

    def called(self, pod: Key, labels: Mapping[str, str] | None) -> Iterator[Webhook]:
        """Yield the webhooks that the creation of such a pod calls, in order.

        Without labels: those that are called for a pod of any.
        """
        cluster = cluster_of(pod)
        for key in sorted(self.known):
            for webhook in self.known[key] if cluster_of(key) == cluster else ():
                if webhook.takes(labels, self._labels_of(pod.namespace, cluster)):
                    yield webhook

    def refusing(self, pod: Key, labels: Mapping[str, str] | None) -> list[Webhook]:
        """Return those of the called ones that refuse such a pod now."""
        called = self.called(pod, labels)
        return [hook for hook in called if hook.fails and self.is_down(hook)]

    def loop_of(self, hook: Webhook) -> list[Webhook]:
        """Return the fewest webhooks, `hook` first, each of which refuses the last one's pods.

        The last one's pods are refused by `hook`; [] where that is not so.
        """
        ways, seen = [[hook]], set[Webhook]()
        for way in ways:
            service = self.service_of(way[-1])
            if service is None:
                continue
            labels = labels_selected(service.manifest)
            for other in self.refusing(service.key, labels):
                if other == hook:
                    return way
                if other not in seen:
                    seen.add(other)
                    ways.append([*way, other])
        return []

    def _labels_of(self, namespace: str, cluster: str) -> dict[str, str]:
        key = qualified(Key("Namespace", "", namespace), cluster)
        found = self.lifetime.host.objects.get(key)
        return namespace_labels(namespace, {} if found is None else found.labels)

    def service_of(self, webhook: Webhook) -> Object | None:
        """Return the Service that a webhook is behind, where it is in the world."""
        if webhook.service is None:
            return None
        key = qualified(webhook.service, cluster_of(webhook.configuration))
        return self.lifetime.host.objects.get(key)

    def is_down(self, webhook: Webhook) -> bool:
        """Return whether its Service is in the world, and no pod that this selects is ready."""
        service = self.service_of(webhook)
        if service is None or not (labels := labels_selected(service.manifest)):
            return False
        selector = read_selector({"matchLabels": labels})
        objects = self.lifetime.host.objects
        last, within = self._last.get(service.key), cluster_of(service.key)
        for key in chain([last] if last in objects else (), objects):
            if (
                key.kind == "Pod"
                and key.namespace == service.key.namespace
                and cluster_of(key) == within
                and selector.matches(objects[key].labels)
                and self._serves(objects[key])
            ):
                self._last[service.key] = key
                return False
        return True

    def _serves(self, pod: Object) -> bool:
        """Return whether a pod is ready, stays, and is on a node that is there and ready.

        Of a node that is not the node controller says that its pods are not ready.
        """
        host, status = self.lifetime.host, self.lifetime.host.get(pod.key).status
        node = Key(NODE, "", str(pod.spec.get("nodeName")))
        key = qualified(node, cluster_of(pod.key))
        return (
            is_true(status, "Ready")
            and not has_ended(status)
            and pod.key not in host.deleting
            and pod.key not in self.lifetime.terminating
            and key in host.objects
            and is_ready(host.get(key).status)
        )
