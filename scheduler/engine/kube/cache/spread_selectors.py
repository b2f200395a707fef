"""Who selects a pod: Services, and the controllers that make pods.

Kept for one purpose: pods without spread constraints of their own are spread
over whatever selects them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.model.objects import Key
from scheduler.model.pod import Pod
from scheduler.model.selectors import Requirement, Selector, read_selector

SERVICE = "Service"
CONTROLLERS = ("ReplicaSet", "StatefulSet", "ReplicationController")
KINDS = (SERVICE, *CONTROLLERS)


class SpreadSelectors:
    """Selectors of Services and controllers, by object."""

    def __init__(self) -> None:
        self.services: dict[Key, Selector] = {}
        self.controllers: dict[Key, Selector] = {}

    def put(self, key: Key, manifest: Mapping[str, Any]) -> None:
        """Take an object of one of KINDS; a Service without a selector has none."""
        given = (manifest.get("spec") or {}).get("selector")
        if key.kind == SERVICE:
            self.services.pop(key, None)
            if given:
                self.services[key] = _of_labels(given)
        elif key.kind == "ReplicationController":
            self.controllers[key] = _of_labels(given or {})
        else:
            self.controllers[key] = read_selector(given)

    def remove(self, key: Key) -> None:
        """Forget an object."""
        self.services.pop(key, None)
        self.controllers.pop(key, None)

    def of(self, pod: Pod) -> Selector | None:
        """Return the selector of the pod's Services and controller; None without any.

        All Services that select it count together with the controller that
        made it. Source: docs/semantics/kube-scheduler.md#podtopologyspread-score.
        """
        found: list[Requirement] = []
        for key, selector in self.services.items():
            if key.namespace == pod.namespace and selector.matches(pod.labels):
                found += selector.requirements
        maker = self.controllers.get(Key(pod.owner_kind, pod.namespace, pod.owner_name))
        if maker is not None:
            found += maker.requirements
        return Selector(tuple(dict.fromkeys(found))) if found else None


def _of_labels(labels: Mapping[str, Any]) -> Selector:
    return read_selector({"matchLabels": labels})
