"""Nodes for files that have none: by the pods that run on them, or by the quota of flavors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from scheduler.model import amounts, registry
from scheduler.model.errors import ManifestError, QuantityError
from scheduler.model.jobs import Surroundings
from scheduler.model.objects import Object
from scheduler.model.podset_template import read_pod
from scheduler.model.reasons import has_ended
from scheduler.model.texts.plain_text import write

#: Sizes that machines come in, per resource in canonical units; beyond the last, by it.
_CPUS = (4, 8, 16, 32, 48, 64, 96, 128, 192, 256)
_GIB = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
_WHOLE = (1, 2, 4, 8, 16)
_GI = 2**30
#: Accelerators on one node, the usual first.
PER_NODE = (8, 4, 1)
#: Processors of a node without accelerators.
CPUS_PER_NODE = (64, 16, 4)
_CPUS_BESIDE = 64  # of a node whose quota of them is not known
#: Nodes that one repair adds by quota; more are not offered.
MOST = 500
Amounts = Mapping[str, int]


class NodesByQuota(NamedTuple):
    """Nodes that hold a flavor's quota: how many, of how much, and their documents."""

    nodes: int
    resource: str
    each: int
    document: str


def nodes_of_pods(objects: Iterable[Object]) -> tuple[int, str]:
    """Return how many nodes the pods name, and their documents.

    A node is as large as the least usual machine that holds what runs on it.
    Cost: O(pods).
    """
    used: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for obj in objects:
        name = obj.spec.get("nodeName") if obj.key.kind == "Pod" else None
        if name and not has_ended(obj.status):
            for resource, amount in _requests(obj.spec).items():
                used[str(name)][resource] += amount
            used[str(name)]["pods"] += 1
    sizes = {name: _machine(amounts_) for name, amounts_ in sorted(used.items())}
    found = [_node(name, {}, size) for name, size in sizes.items()]
    return len(found), "---\n".join(found)


def nodes_for_pods(objects: Iterable[Object]) -> tuple[int, str]:
    """Return how many nodes hold all pods at once, and their documents; none over `MOST`.

    They are equal, each of `CPUS_PER_NODE[0]` cpu or as large as the largest pod needs,
    and pods are put on the first with room, the largest first. Cost: O(objects x nodes).
    """
    asked = [(count, _requests(spec)) for count, spec in _asking(objects) if count]
    largest: dict[str, int] = {"cpu": 1000 * CPUS_PER_NODE[0]}
    for _, requests in asked:
        for name, amount in requests.items():  # accelerators come by eights
            least = PER_NODE[0] if "/" in name else 0
            largest[name] = max(largest.get(name, 0), amount, least)
    size = _machine(largest)

    def share(one: tuple[int, Amounts]) -> float:
        return max((amount / size[name] for name, amount in one[1].items()), default=0)

    rooms: list[dict[str, int]] = []
    for count, requests in sorted(asked, key=share, reverse=True):
        left, needs = count, {"pods": 1, **requests}
        for room in rooms:
            left -= _taken(room, needs, left)
        while left > 0 and len(rooms) <= MOST:
            rooms.append(dict(size))
            left -= _taken(rooms[-1], needs, left)
    if not 0 < len(rooms) <= MOST:
        return 0, ""
    numbers = range(1, len(rooms) + 1)
    return len(rooms), "---\n".join(_node(f"node-{n}", {}, size) for n in numbers)


def _taken(room: dict[str, int], needs: Amounts, most: int) -> int:
    """Put as many pods as fit into a node's room, at most so many; return how many."""
    fits = min((room[name] // n for name, n in needs.items() if n), default=most)
    count = min(most, fits)
    for name, amount in needs.items():
        room[name] -= count * amount
    return count


def _asking(objects: Iterable[Object]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield how many pods, and their spec, of what makes pods and of pods by themselves."""
    kinds = {one.name: one.value for one in registry.built_in("job-kind")}
    for obj in objects:
        if obj.metadata.get("ownerReferences") or has_ended(obj.status):
            continue
        if obj.key.kind == "Pod":
            yield 1, obj.spec
        elif (kind := kinds.get(obj.key.kind)) is not None:
            try:
                made = kind.pod_sets(obj.manifest, Surroundings())
            except ManifestError:
                continue  # it refers to what is not here
            yield from (
                (one["count"], one["template"].get("spec") or {}) for one in made
            )


def _requests(spec: Mapping[str, Any]) -> dict[str, int]:
    try:
        return dict(read_pod(spec).requests)
    except QuantityError:
        return {}


def _machine(used: Amounts) -> dict[str, int]:
    size = {"cpu": 1000 * _CPUS[0], "memory": _GIB[0] * _GI, "pods": 110}
    for name, amount in used.items():
        if name == "cpu":
            size[name] = 1000 * _least(_CPUS, -(-amount // 1000))
        elif name == "memory":
            size[name] = _GI * _least(_GIB, -(-amount // _GI))
        elif name == "pods":
            size[name] = max(110, amount)
        elif "/" in name and not name.startswith("hugepages-"):
            size[name] = _least(_WHOLE, amount)
        else:
            size[name] = amount
    return size


def _least(sizes: tuple[int, ...], amount: int) -> int:
    last = sizes[-1]
    return next((size for size in sizes if size >= amount), -(-amount // last) * last)


def nodes_by_quota(objects: Iterable[Object]) -> Iterator[NodesByQuota]:
    """Yield nodes that hold the nominal quota of all flavors, a size after the other.

    Cost: O(ClusterQueues and Cohorts).
    """
    quotas: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    flavors: dict[str, Object] = {}
    for obj in objects:
        if obj.key.kind in ("ClusterQueue", "Cohort"):
            for flavor, resource, amount in _quotas(obj.spec):
                quotas[flavor][resource] += amount
        elif obj.key.kind == "ResourceFlavor":
            flavors[obj.key.name] = obj
    devices = {name for sums in quotas.values() for name in sums if "/" in name}
    sizes = PER_NODE if devices else CPUS_PER_NODE
    names = devices or {"cpu"}
    most = max((s.get(n, 0) for s in quotas.values() for n in names), default=0)
    most = most if devices else most // 1000
    for each in [size for size in sizes if size <= most] or sizes[-1:]:
        if found := _by_size(quotas, flavors, each):
            yield found


def _quotas(spec: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    for group in spec.get("resourceGroups") or ():
        for flavor in group.get("flavors") or ():
            for one in flavor.get("resources") or ():
                try:
                    name = str(one["name"])
                    amount = amounts.canonical(name, one["nominalQuota"])
                except (KeyError, QuantityError):
                    continue
                yield str(flavor.get("name")), name, amount


def _by_size(
    quotas: Mapping[str, Amounts], flavors: Mapping[str, Object], each: int
) -> NodesByQuota | None:
    documents: list[str] = []
    main, count = "", 0
    with_devices = any("/" in name for sums in quotas.values() for name in sums)
    for flavor, sums in sorted(quotas.items()):
        if flavor not in flavors or not any(sums.values()):
            continue
        devices = [name for name in sorted(sums) if "/" in name and sums[name]]
        leading = devices[0] if devices else "cpu" if sums.get("cpu") else ""
        if not leading:
            continue
        size = each if devices else 1000 * (_CPUS_BESIDE if with_devices else each)
        nodes = -(-sums[leading] // size)
        main = leading if devices or not main else main
        count += nodes
        if count > MOST:
            return None
        share = {
            name: size if name == leading else -(-amount // nodes)
            for name, amount in sums.items()
        }
        share.setdefault("cpu", 1000 * _CPUS_BESIDE)
        share.setdefault("memory", 4 * _GI * _CPUS_BESIDE)
        share.setdefault("pods", 110)
        spec = flavors[flavor].spec
        documents += [
            _node(f"{flavor}-{number}", spec, share) for number in range(1, nodes + 1)
        ]
    if not documents:
        return None
    return NodesByQuota(count, main, each, "---\n".join(documents))


def _node(name: str, flavor: Mapping[str, Any], size: Amounts) -> str:
    labels = {"kubernetes.io/hostname": name, **(flavor.get("nodeLabels") or {})}
    room = {what: amounts.request_text(what, size[what]) for what in sorted(size)}
    spec = {"taints": flavor["nodeTaints"]} if flavor.get("nodeTaints") else {}
    data: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        **({"spec": spec} if spec else {}),
        "status": {"capacity": room, "allocatable": dict(room)},
    }
    return write(data)
