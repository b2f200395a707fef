"""The objects that events tell of: pods and their owners, Workloads and their jobs.

Of what is gone the names of what came with it say what it belonged to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from api.cluster.controlled import owner_of
from sandbox.models import Event, Sandbox, table_of
from sandbox.page.diffs import Row
from scheduler.model.amounts import is_whole
from scheduler.model.objects import Key

_APPS = ("DaemonSet", "Deployment", "StatefulSet")
#: (namespace, name) -> metadata.
Metadata = dict[tuple[str, str], dict[str, Any]]


def pods_of(sandbox: Sandbox, events: list[Event]) -> Metadata:
    """Return the metadata of the pods of events; of those that are gone, the owner."""
    names = _named(events, "Pod")
    found: Metadata = {}
    rows = table_of("Pod")._default_manager.filter(sandbox_id=sandbox.pk, kind="Pod")
    for row in rows.filter(name__in=names).only("namespace", "name", "manifest"):
        found[row.namespace, row.name] = row.manifest["metadata"]
    gone = {
        (namespace, name)
        for kind, namespace, name in (e.subject.split("/", 2) for e in events)
        if kind == "Pod" and (namespace, name) not in found
    }
    arrived = {
        (namespace, name)
        for kind, namespace, name in _arrivals(events)
        if kind == "Workload"
    }
    above = {name: list(_heads(name)) for _, name in gone}
    heads = {head for some in above.values() for head in some}
    for kind in ("Job", "ReplicaSet", "Workload", *_APPS):
        owners = table_of(kind)._default_manager.filter(
            sandbox_id=sandbox.pk, kind=kind, name__in=heads
        )
        known = {
            (namespace, name): uid
            for namespace, name, uid in owners.values_list("namespace", "name", "uid")
        }
        for namespace, name in gone:
            for head in above[name]:
                if (namespace, head) in known and (namespace, name) not in found:
                    owner = {"kind": kind, "name": head, "controller": True}
                    owner["uid"] = known[namespace, head]
                    metadata = {"name": name, "namespace": namespace}
                    found[namespace, name] = {**metadata, "ownerReferences": [owner]}
                    break
    edited = {event.subject for event in events if event.type == "Edit"}
    for namespace, name in gone:
        for head in above[name]:
            if (namespace, name) in found:
                break
            kind = "Workload" if (namespace, head) in arrived else ""
            if f"Deployment/{namespace}/{head.rpartition('-')[0]}" in edited:
                kind = "ReplicaSet"  # it went with its Deployment
            if kind:
                owner = {"kind": kind, "name": head, "controller": True}
                metadata = {"name": name, "namespace": namespace}
                found[namespace, name] = {**metadata, "ownerReferences": [owner]}
    return found


def _arrivals(events: list[Event]) -> Iterator[list[str]]:
    """Yield kind, namespace and name of what came within these events."""
    for event in events:
        if event.type == "Arrive":
            yield event.subject.split("/", 2)


class Workload(NamedTuple):
    """What is told of a Workload that stands in its spec."""

    priority: int
    uid: str
    seconds: int | None  # its maximum execution time


def workloads_of(
    sandbox: Sandbox, events: list[Event], gone: Mapping[str, Row]
) -> dict[str, Workload]:
    """Return the Workloads that preempted, were preempted, or were deactivated.

    Of those in `gone` as far as their last rows tell.
    """
    subjects = {
        subject
        for event in events
        if event.type in ("Preempt", "Deactivate")
        for subject in (event.by, event.subject)
    }
    names = {subject.rpartition("/")[2] for subject in subjects}
    rows = table_of("Workload")._default_manager.filter(sandbox_id=sandbox.pk)
    rows = rows.filter(kind="Workload", name__in=names)
    past = {
        key: Workload(row["priority"], row["uid"], None)
        for key, row in gone.items()
        if key in subjects
    }
    return past | {
        f"Workload/{row.namespace}/{row.name}": Workload(
            int(row.manifest["spec"].get("priority") or 0),
            row.uid,
            row.manifest["spec"].get("maximumExecutionTimeSeconds"),
        )
        for row in rows
    }


def _heads(name: str) -> Iterator[str]:
    """Yield what may be the owner of a pod named `owner-podset-number`."""
    head, _, number = name.rpartition("-")
    if is_whole(number):
        while head := head.rpartition("-")[0]:
            yield head


def jobs_of(
    sandbox: Sandbox, events: list[Event], metadata: Metadata, gone: Mapping[str, Row]
) -> dict[tuple[str, str], Key]:
    """Return the job of each Workload, and of each pod of one, by (namespace, name).

    Of Workloads that are gone their last rows tell it.
    """
    found = {
        (row["namespace"], row["name"]): Key(*row["owner"].split("/", 2))
        for row in gone.values()
        if row["owner"]
    }
    workloads = owners_of(sandbox, "Workload", _named(events, "Workload"))
    pods = {place: owner for place, one in metadata.items() if (owner := owner_of(one))}
    others = {(n, o["name"]) for (n, _), o in pods.items() if o["kind"] == "Workload"}
    workloads |= owners_of(sandbox, "Workload", {name for _, name in others})
    for (namespace, name), owners in workloads.items():
        owner = owners[0]
        found[namespace, name] = Key(owner["kind"], namespace, owner["name"])
        for pod in owners:
            if pod["kind"] == "Pod":
                workload = Key("Workload", namespace, name)
                found[namespace, f"Pod/{pod['name']}"] = workload
    for (namespace, name), owner in pods.items():
        if owner["kind"] == "Workload":
            job = found.get((namespace, owner["name"]))
        else:
            job = Key(owner["kind"], namespace, owner["name"])
        if job is not None:
            found[namespace, f"Pod/{name}"] = job
    return found


def _named(events: list[Event], kind: str) -> set[str]:
    head = f"{kind}/"
    return {
        event.subject.rpartition("/")[2]
        for event in events
        if event.subject.startswith(head)
    }


def owners_of(
    sandbox: Sandbox, kind: str, names: set[str]
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the owners of each object of these names: who controls it, or all pods."""
    rows = table_of(kind)._default_manager.filter(sandbox_id=sandbox.pk, kind=kind)
    found = {}
    for row in rows.filter(name__in=names).only("namespace", "name", "manifest"):
        owners = row.manifest["metadata"].get("ownerReferences") or ()
        steering = [one for one in owners if one.get("controller")]
        pods = sorted(
            (one for one in owners if one["kind"] == "Pod"), key=lambda one: one["name"]
        )
        if steering or pods:
            found[row.namespace, row.name] = steering or pods
    return found


def uids_of(sandbox: Sandbox, keys: set[Key]) -> dict[Key, str]:
    """Return the UIDs of those objects that exist."""
    found: dict[Key, str] = {}
    for kind in {key.kind for key in keys}:
        names = {key.name for key in keys if key.kind == kind}
        rows = table_of(kind)._default_manager.filter(sandbox_id=sandbox.pk, kind=kind)
        for namespace, name, uid in rows.filter(name__in=names).values_list(
            "namespace", "name", "uid"
        ):
            found[Key(kind, namespace, name)] = uid
    return found
