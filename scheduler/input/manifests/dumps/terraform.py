"""What `terraform show -json` prints: a state or a plan, and the objects in it.

Source: <https://developer.hashicorp.com/terraform/internals/json-format>
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.model.texts.writing import write

#: Resource types that hold an object -> the field of its values that does.
_OBJECTS = {"kubernetes_manifest": "manifest"}
#: Resource types that hold text, and the fields with it: manifests, values of a chart.
_TEXTS = {
    "kubectl_manifest": ("yaml_body",),
    "helm_release": ("values",),
    "k8s_manifest": ("content",),
}

_QUEUES = "queues.yaml"  # the one value of a chart that is read


def is_shown(data: Mapping[str, Any]) -> bool:
    """Return whether a document is a state or a plan as Terraform shows it."""
    return "terraform_version" in data and "format_version" in data


def texts(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (address, YAML) of every resource that holds an object or a chart's values.

    Of a plan what is planned counts.
    """
    values = data.get("planned_values") or data.get("values") or {}
    left = [values.get("root_module")]
    while left:
        module = left.pop()
        if not isinstance(module, dict):
            continue
        left += module.get("child_modules") or ()
        for one in module.get("resources") or ():
            if isinstance(one, dict):
                address = str(one.get("address") or "")
                yield from ((address, text) for text in _texts_of(one))


def _texts_of(resource: Mapping[str, Any]) -> Iterator[str]:
    kind, values = str(resource.get("type")), resource.get("values")
    if not isinstance(values, dict):
        return
    given = values.get(_OBJECTS.get(kind, ""))
    if isinstance(given, dict):
        yield write(_without_nulls(given))
    for name in _TEXTS.get(kind, ()):
        found = values.get(name)
        for text in found if isinstance(found, list) else [found]:
            if isinstance(text, str) and (kind != "helm_release" or _QUEUES in text):
                yield text


def _without_nulls(value: Any) -> Any:
    """Return the value without the fields that Terraform writes as null."""
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value
