"""Webhooks that an API server calls before it stores a pod: which, and what they set.

Source: <https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/>,
docs/semantics/controllers.md#webhooks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.model.annotations import SETS_SCHEDULER_NAME
from scheduler.model.objects import Key
from scheduler.model.selectors import Selector, read_selector

KINDS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_ANY = "*"
#: The resource of a rule that takes Pods, without a subresource.
_PODS = frozenset({"pods", _ANY, "pods/*", "*/*"})
_UNNAMED = ("", "default-scheduler")


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """One of a configuration that is called when a pod is made."""

    name: str
    configuration: Key
    fails: bool  # failurePolicy: no pod is made while it cannot be called
    service: Key | None  # None: a URL, of which nothing is known
    url: str  # as the API server writes it when a call fails
    namespaces: Selector
    objects: Selector
    scheduler: str  # the schedulerName that it gives; "" where it gives none

    def takes(
        self, labels: Mapping[str, str] | None, of_namespace: Mapping[str, str]
    ) -> bool:
        """Return whether it is called for a pod of these labels, or any, in a namespace."""
        taken = labels is None or self.objects.matches(labels)
        return taken and self.namespaces.matches(of_namespace)

    def mutate(self, pod: dict[str, Any]) -> None:
        """Set in a pod's spec what the configuration says that the webhook sets."""
        if self.scheduler and pod.get("schedulerName", "") in _UNNAMED:
            pod["schedulerName"] = self.scheduler

    def failure(self) -> str:
        """Return what an API server says where no pod serves it."""
        name = self.service.name if self.service is not None else ""
        return (
            f'failed calling webhook "{self.name}": failed to call webhook: '
            f'Post "{self.url}": no endpoints available for service "{name}"'
        )


def read_webhooks(key: Key, manifest: Mapping[str, Any]) -> tuple[Webhook, ...]:
    """Return the webhooks of a configuration that pods are made past, in its order."""
    annotations = manifest["metadata"].get("annotations") or {}
    scheduler = annotations.get(SETS_SCHEDULER_NAME, "") if key.kind == KINDS[0] else ""
    return tuple(
        _read(key, one, scheduler)
        for one in manifest.get("webhooks") or ()
        if any(map(_takes_pods, one.get("rules") or ()))
    )


def _takes_pods(rule: Mapping[str, Any]) -> bool:
    """Return whether a rule takes the creation of pods."""
    return (
        rule.get("scope") in (None, _ANY, "Namespaced")
        and not {"CREATE", _ANY}.isdisjoint(rule.get("operations") or ())
        and not {"", _ANY}.isdisjoint(rule.get("apiGroups") or ())
        and not {"v1", _ANY}.isdisjoint(rule.get("apiVersions") or ())
        and not _PODS.isdisjoint(rule.get("resources") or ())
    )


def takes_more(webhook: Mapping[str, Any]) -> bool:
    """Return whether a webhook is called for more than the creation of pods."""
    return any(
        set(rule.get("operations") or ()) != {"CREATE"}
        or not _PODS.issuperset(rule.get("resources") or ())
        or _ANY in (rule.get("resources") or ())
        for rule in webhook.get("rules") or ()
    )


def _read(key: Key, given: Mapping[str, Any], scheduler: str) -> Webhook:
    service = (given.get("clientConfig") or {}).get("service") or {}
    name, namespace = service.get("name", ""), service.get("namespace", "")
    path, port = service.get("path") or "/", service.get("port") or 443
    timeout = given.get("timeoutSeconds") or 10
    return Webhook(
        name=str(given.get("name", "")),
        configuration=key,
        fails=given.get("failurePolicy") != "Ignore",
        service=Key("Service", namespace, name) if service else None,
        url=f"https://{name}.{namespace}.svc:{port}{path}?timeout={timeout}s",
        namespaces=read_selector(given.get("namespaceSelector") or {}),
        objects=read_selector(given.get("objectSelector") or {}),
        scheduler=scheduler,
    )
