"""A second, slow reading of docs/semantics/kueue-multikueue.md, from statuses alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.engine.world import World
from scheduler.model.durations import stamp_us
from scheduler.model.objects import Key
from scheduler.model.reasons import is_true

ORIGIN = "kueue.x-k8s.io/multikueue-origin"


def broken(world: World, lost_ms: int = 900_000) -> Iterator[str]:
    """Yield what of a world at rest is not as the text says."""
    lists = [world.get(key).spec["clusters"] for key in world.keys("MultiKueueConfig")]
    clusters = lists[0]
    reached = [name for name in clusters if _reached(world, name)]
    for key in [key for key in world.objects if key.kind == "Workload"]:
        if ":" not in key.name:
            out = {n: c for n in clusters if (c := _copy(world, key, n)) is not None}
            yield from _workload(world, key, out, reached, lost_ms)
        elif Key("Workload", key.namespace, key.name.partition(":")[2]) not in (
            world.objects
        ) and (key.name.partition(":")[0] in reached and _ours(world, key)):
            yield f"{key} has no Workload of the manager"


def _workload(
    world: World,
    key: Key,
    out: dict[str, dict[str, Any]],
    reached: list[str],
    lost_ms: int,
) -> Iterator[str]:
    status = world.get(key).status
    seen = sorted(set(out) & set(reached))
    holds = is_true(status, "QuotaReserved") and not is_true(status, "Evicted")
    if not holds or is_true(status, "Finished"):
        if seen:
            yield f"{key} has no quota and copies in {seen}"
        if "clusterName" in status or "nominatedClusterNames" in status:
            yield f"{key} has no quota and names clusters"
        return
    (check,) = status["admissionChecks"]
    if check["state"] == "Ready":
        yield from _dispatched(world, key, status, out, reached, lost_ms)
    elif check["state"] == "Pending":
        nominated = status.get("nominatedClusterNames") or []
        wanted = sorted(set(nominated) & set(reached))
        if seen != wanted:
            yield f"{key} is nominated for {nominated} and has copies in {seen}"
        if any(is_true(out[name], "Admitted") for name in seen):
            yield f"{key} waits though a copy is admitted"
    else:
        yield f"{key}: nothing came of {check['state']}"


def _dispatched(
    world: World,
    key: Key,
    status: dict[str, Any],
    out: dict[str, dict[str, Any]],
    reached: list[str],
    lost_ms: int,
) -> Iterator[str]:
    cluster = status["clusterName"]
    if status["admissionChecks"][0]["message"] != (
        f'The workload was admitted on "{cluster}"'
    ):
        yield f"{key} says another cluster than {cluster}"
    if not is_true(status, "Admitted"):
        yield f"{key} is not admitted though its copy is"
    seen = sorted(set(out) & set(reached))
    if cluster in reached:
        if seen != [cluster] or not is_true(out[cluster], "Admitted"):
            yield f"{key} runs in {cluster} and has copies in {seen}"
    elif seen:
        yield f"{key} runs in {cluster}, not reached, and has copies in {seen}"
    elif _lost_for(world, cluster) >= lost_ms:
        yield f"{key} waits for {cluster} for too long"


def _lost_for(world: World, cluster: str) -> int:
    """Return for how long (ms) a cluster has not been reached, by its condition."""
    (lost,) = world.get(Key("MultiKueueCluster", "", cluster)).status["conditions"]
    return (world.context.now_us - stamp_us(lost["lastTransitionTime"])) // 1000


def _reached(world: World, cluster: str) -> bool:
    status = world.get(Key("MultiKueueCluster", "", cluster)).status
    given = status.get("conditions") or [{"status": "True"}]
    return given[0]["status"] == "True"


def _copy(world: World, key: Key, cluster: str) -> dict[str, Any] | None:
    inside = Key("Workload", key.namespace, f"{cluster}:{key.name}")
    if inside not in world.objects or not _ours(world, inside):
        return None
    return world.get(inside).status


def _ours(world: World, key: Key) -> bool:
    return ORIGIN in world.objects[key].labels
