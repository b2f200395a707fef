"""Pod specs, of pods and of templates."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from api.cluster.checks import names
from api.cluster.checks.placing import (
    affinity_faults,
    gate_faults,
    required,
    spread_faults,
    toleration_faults,
    unsupported,
)
from api.cluster.refusals import Fault
from scheduler.model.amounts import parse as parse_quantity

Spec = Mapping[str, Any]
_ENV = re.compile("[ -<>-~]+", re.ASCII)
_NOT_ENV = (
    "a valid environment variable name must consist only of printable ASCII characters "
    "other than '='"
)
NEGATIVE = "must be greater than or equal to 0"
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")
_POLICIES = ("Always", "OnFailure", "Never")


def not_negative(holder: Spec, field: str, *fields: str) -> Iterator[Fault]:
    """Yield a fault for each number below zero."""
    for name in fields:
        value = holder.get(name)
        if isinstance(value, int) and value < 0:
            yield Fault(f"{field}.{name}", f"Invalid value: {value}: {NEGATIVE}")


def template_faults(
    template: Spec, field: str, claimed: Iterable[str] = ()
) -> Iterator[Fault]:
    """Yield the faults of a pod template; `claimed` are volumes that each pod gets."""
    metadata = template.get("metadata") or {}
    yield from names.labels_faults(metadata.get("labels"), f"{field}.labels")
    given = metadata.get("annotations")
    yield from names.annotations_faults(given, f"{field}.annotations")
    yield from spec_faults(template.get("spec") or {}, f"{field}.spec", claimed)


def spec_faults(spec: Spec, field: str, claimed: Iterable[str] = ()) -> Iterator[Fault]:
    """Yield the faults of a pod spec, in the order of the server."""
    volumes: set[Any] = set()
    for n, one in enumerate(spec.get("volumes") or ()):
        yield from _volume_faults(one, f"{field}.volumes[{n}]", volumes)
    volumes.update(claimed)
    claims: set[Any] = set()
    for n, one in enumerate(spec.get("resourceClaims") or ()):
        yield from _claim_faults(one, f"{field}.resourceClaims[{n}]", claims)
    containers = spec.get("containers")
    if not containers:
        yield required(f"{field}.containers")
    seen: set[str] = set()
    for part in ("containers", "initContainers"):
        for n, container in enumerate(spec.get(part) or ()):
            place = f"{field}.{part}[{n}]"
            yield from _container_faults(container, place, seen, volumes)
    policy = spec.get("restartPolicy")
    if policy not in (None, *_POLICIES):
        yield unsupported(f"{field}.restartPolicy", policy, *_POLICIES)
    dns = spec.get("dnsPolicy")
    if dns not in (None, *_DNS):
        yield unsupported(f"{field}.dnsPolicy", dns, *_DNS)
    yield from names.labels_faults(spec.get("nodeSelector"), f"{field}.nodeSelector")
    yield from affinity_faults(spec.get("affinity") or {}, f"{field}.affinity")
    gates = spec.get("schedulingGates") or ()
    yield from gate_faults(gates, f"{field}.schedulingGates")
    spread = spec.get("topologySpreadConstraints") or ()
    yield from spread_faults(spread, f"{field}.topologySpreadConstraints")
    deadline = spec.get("activeDeadlineSeconds")
    if isinstance(deadline, int) and not 1 <= deadline < 1 << 31:
        why = "must be between 1 and 2147483647, inclusive"
        yield Fault(
            f"{field}.activeDeadlineSeconds", f"Invalid value: {deadline}: {why}"
        )
    for name in ("hostname", "subdomain"):
        if spec.get(name):
            yield from names.label_faults(spec[name], f"{field}.{name}")
    for n, one in enumerate(spec.get("tolerations") or ()):
        yield from toleration_faults(one, f"{field}.tolerations[{n}]")
    if spec.get("nodeName"):
        node = str(spec["nodeName"])
        for problem in names.problems(node, "subdomain", 253, names.NOT_SUBDOMAIN):
            yield names.invalid(f"{field}.nodeName", node, problem)
    system = (spec.get("os") or {}).get("name")
    if system not in (None, "linux", "windows"):
        yield unsupported(f"{field}.os", system, "linux", "windows")
    yield from _identity_faults(spec, f"{field}.securityContext")
    preempts = spec.get("preemptionPolicy")
    if preempts not in (None, "Never", "PreemptLowerPriority"):
        known = ("PreemptLowerPriority", "Never")
        yield unsupported(f"{field}.preemptionPolicy", preempts, *known)


def _volume_faults(one: Spec, field: str, known: set[Any]) -> Iterator[Fault]:
    name = one.get("name") or ""
    wrong = False
    if not name:
        wrong = True
        yield required(f"{field}.name")
    for fault in names.label_faults(name, f"{field}.name") if name else ():
        wrong = True
        yield fault
    if name in known:
        yield Fault(f"{field}.name", f'Duplicate value: "{name}"')
    elif not wrong:
        known.add(name)
    sources = [source for source in one if source != "name"]
    for source in sorted(sources, key=_volume_order)[1:]:
        why = "may not specify more than 1 volume type"
        yield Fault(f"{field}.{source}", f"Forbidden: {why}")
    for source, inner in _MUST_NAME.items():
        given = one.get(source)
        if given is not None and not given.get(inner):
            yield required(f"{field}.{source}.{inner}")


#: What a source of a volume must say.
_MUST_NAME = {
    "configMap": "name",
    "hostPath": "path",
    "persistentVolumeClaim": "claimName",
    "secret": "secretName",
}
_FIRST_VOLUMES = ("emptyDir", "hostPath", "gitRepo")


def _volume_order(source: str) -> tuple[int, str]:
    """Return where a server looks for a source of a volume."""
    known = source in _FIRST_VOLUMES
    return (_FIRST_VOLUMES.index(source) if known else len(_FIRST_VOLUMES)), source


def _claim_faults(one: Spec, field: str, known: set[Any]) -> Iterator[Fault]:
    name = one.get("name") or ""
    if not name:
        yield required(f"{field}.name")
    elif name in known:
        yield Fault(f"{field}.name", f'Duplicate value: "{name}"')
    else:
        yield from names.label_faults(name, f"{field}.name")
        known.add(name)
    sources = ("resourceClaimName", "resourceClaimTemplateName")
    given = [source for source in sources if one.get(source) is not None]
    listed = f"must specify one of: `{sources[0]}`, `{sources[1]}`"
    if len(given) > 1:
        listed = f"at most one of `{sources[0]}` or `{sources[1]}` may be specified"
        yield Fault(field, f"Invalid value: {listed}")
    elif not given:
        # As the server's own type has it, whose value it shows.
        inner = {"Name": name, **{f"{s[:1].upper()}{s[1:]}": None for s in sources}}
        shown = json.dumps(inner, separators=(",", ":"))
        yield Fault(field, f"Invalid value: {shown}: {listed}")


def _container_faults(
    container: Spec, field: str, seen: set[str], volumes: set[Any]
) -> Iterator[Fault]:
    name = container.get("name")
    if not name:
        yield required(f"{field}.name")
    else:
        yield from names.label_faults(name, f"{field}.name")
        if name in seen:
            yield Fault(f"{field}.name", f'Duplicate value: "{name}"')
        seen.add(name)
    image = container.get("image")
    if not image:
        yield required(f"{field}.image")
    elif image.strip() != image:
        why = "must not have leading or trailing whitespace"
        yield names.invalid(f"{field}.image", image, why)
    yield from _port_faults(container.get("ports") or (), f"{field}.ports")
    for n, one in enumerate(container.get("env") or ()):
        if not one.get("name"):
            yield required(f"{field}.env[{n}].name")
        elif not _ENV.fullmatch(one["name"]):
            yield names.invalid(f"{field}.env[{n}].name", one["name"], _NOT_ENV)
        yield from _source_faults(one, f"{field}.env[{n}].valueFrom")
    for n, one in enumerate(container.get("volumeMounts") or ()):
        place = f"{field}.volumeMounts[{n}]"
        if not one.get("name"):
            yield required(f"{place}.name")
        if one.get("name") not in volumes:
            yield Fault(f"{place}.name", f'Not found: "{one.get("name") or ""}"')
        if not one.get("mountPath"):
            yield required(f"{place}.mountPath")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is not None:
            yield from _probe_faults(probe, f"{field}.{name}")
    policy = container.get("imagePullPolicy")
    known = ("Always", "IfNotPresent", "Never")
    if policy not in (None, "", *known):
        yield unsupported(f"{field}.imagePullPolicy", policy, *known)
    yield from resource_faults(container.get("resources") or {}, f"{field}.resources")
    yield from _identity_faults(container, f"{field}.securityContext")
    restarts = container.get("restartPolicy")
    if restarts not in (None, *_POLICIES):
        yield unsupported(f"{field}.restartPolicy", restarts, *sorted(_POLICIES))


_MOST_PORT, _MOST_ID = (1 << 16) - 1, (1 << 31) - 1
_LONGEST_PORT = 15
_PROTOCOLS = ("SCTP", "TCP", "UDP")
#: What of a pod a variable may be.
_OF_POD = re.compile(
    r"metadata\.(name|namespace|uid|annotations\['.+'\]|labels\['.+'\])"
    r"|spec\.(nodeName|serviceAccountName|restartPolicy)"
    r"|status\.(hostIPs?|podIPs?|phase)"
)


def _between(field: str, number: int, least: int, most: int) -> Iterator[Fault]:
    if not least <= number <= most:
        why = f"must be between {least} and {most}, inclusive"
        yield Fault(field, f"Invalid value: {number}: {why}")


def _port_faults(ports: Iterable[Spec], field: str) -> Iterator[Fault]:
    seen: set[Any] = set()
    for n, port in enumerate(ports):
        place, name = f"{field}[{n}]", port.get("name")
        if name and len(name) > _LONGEST_PORT:
            why = f"must be no more than {_LONGEST_PORT} characters"
            yield names.invalid(f"{place}.name", name, why)
        elif name and name in seen:
            yield Fault(f"{place}.name", f'Duplicate value: "{name}"')
        seen.add(name)
        number = port.get("containerPort")
        if not number:
            yield required(f"{place}.containerPort")
        else:
            yield from _between(f"{place}.containerPort", number, 1, _MOST_PORT)
        protocol = port.get("protocol")
        if protocol not in (None, "", *_PROTOCOLS):
            yield unsupported(f"{place}.protocol", protocol, *_PROTOCOLS)


def _source_faults(variable: Spec, field: str) -> Iterator[Fault]:
    """Yield the faults of where the value of a variable comes from."""
    source = variable.get("valueFrom")
    if source is None:
        return
    path = (source.get("fieldRef") or {}).get("fieldPath")
    if path is not None and not _OF_POD.fullmatch(path):
        why = f"error converting fieldPath: field label not supported: {path}"
        yield names.invalid(f"{field}.fieldRef.fieldPath", path, why)
    if variable.get("value"):
        why = "may not be specified when `value` is not empty"
        yield names.invalid(field, "", why)


def _probe_faults(probe: Spec, field: str) -> Iterator[Fault]:
    if not any(probe.get(one) is not None for one in _HANDLERS):
        yield required(field, "must specify a handler type")
    for handler in ("httpGet", "tcpSocket", "grpc"):
        asked = probe.get(handler)
        if asked is not None and not isinstance(asked.get("port"), str):
            number = asked.get("port") or 0
            yield from _between(f"{field}.{handler}.port", number, 1, _MOST_PORT)
    yield from not_negative(
        probe,
        field,
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    )


def _identity_faults(holder: Spec, field: str) -> Iterator[Fault]:
    given = holder.get("securityContext") or {}
    for name in ("runAsUser", "runAsGroup"):
        if isinstance(given.get(name), int):
            yield from _between(f"{field}.{name}", given[name], 0, _MOST_ID)


#: What a container may ask for without a prefix.
_OF_CONTAINERS = frozenset({"cpu", "ephemeral-storage", "memory"})
_PAGES = "hugepages-"


def _is_whole(name: str) -> bool:
    """Return whether a resource comes in whole numbers: those of a vendor do."""
    prefix = name.partition("/")[0] if "/" in name else ""
    return bool(prefix) and prefix != "kubernetes.io"


def resource_faults(resources: Spec, field: str) -> Iterator[Fault]:
    """Yield the faults of requests and limits."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, amount in sorted(limits.items()):
        yield from _amount_faults(name, amount, f"{field}.limits[{name}]")
    for name, amount in sorted(requests.items()):
        yield from _amount_faults(name, amount, f"{field}.requests[{name}]")
        bound = _is_whole(name) or name.startswith(_PAGES)
        if name not in limits:
            if bound:
                why = "Limit must be set for non overcommitable resources"
                yield required(f"{field}.limits", why)
            continue
        asked, most = parse_quantity(str(amount)), parse_quantity(str(limits[name]))
        place, said = f"{field}.requests", f'Invalid value: "{amount}"'
        if asked != most and bound:
            why = f"must be equal to {name} limit of {limits[name]}"
            yield Fault(place, f"{said}: {why}")
        elif asked > most:
            why = f"must be less than or equal to {name} limit of {limits[name]}"
            yield Fault(place, f"{said}: {why}")
    asked_for = {*limits, *requests}
    if any(n.startswith(_PAGES) for n in asked_for) and not asked_for & {
        "cpu",
        "memory",
    }:
        yield Fault(field, "Forbidden: HugePages require cpu or memory")


def _amount_faults(name: str, amount: Any, field: str) -> Iterator[Fault]:
    # The name of each resource that a container asks for.
    found = list(names.key_faults(name, field))
    yield from found
    if "/" not in name and not name.startswith(_PAGES):
        if not found and name not in names.STANDARD_RESOURCES:
            why = "must be a standard resource type or fully qualified"
            yield names.invalid(field, name, why)
        if name not in _OF_CONTAINERS:
            why = "must be a standard resource for containers"
            yield names.invalid(field, name, why)
    value = parse_quantity(str(amount))
    if value < 0:
        yield Fault(field, f'Invalid value: "{amount}": {NEGATIVE}')
    if _is_whole(name) and value % 1:
        yield Fault(field, f'Invalid value: "{amount}": must be an integer')
