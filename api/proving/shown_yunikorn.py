"""What a person would call the state of a cluster that YuniKorn schedules.

`cluster_as_seen` reads pods of the cluster and YuniKorn's own REST answers; `compared`
leaves out of it what is set aside, on both sides.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

Document = dict[str, Any]
Rows = dict[str, Any]

_PARTITION = "/ws/v1/partition/default"
_GROUP_OF_TASKS = "yunikorn.apache.org/task-group-name"
_PLACEHOLDER = (
    "yunikorn.apache.org/placeholder",
    "internal.yunikorn.apache.org/placeholder",
)
_OWNERS = ("Pod", "Job", "ReplicaSet", "Deployment", "DaemonSet")
_ENDED = ("Succeeded", "Failed")

# Set aside on both sides: nearly every script would show it.
_FIELDS = {
    ("Application", "reservations"),
    ("Node", "reserved"),
    ("Queue", "properties"),
}


def cluster_as_seen(
    list_of: Callable[[str], list[Document]], asked: Callable[[str], Any]
) -> Rows:
    """Return what stands in a cluster and in YuniKorn, by kind and name."""
    rows: Rows = {**_pods(list_of), **_applications(asked)}
    tree = asked(f"{_PARTITION}/queues")
    if isinstance(tree, dict) and "queuename" in tree:
        rows |= {f"Queue {q['queuename']}": _queue(q) for q in _tree(tree)}
    for kind, key, name in (
        ("users", "userName", "User"),
        ("groups", "groupName", "Group"),
    ):
        for one in _listed(asked(f"{_PARTITION}/usage/{kind}")):
            row: Document = {q["queuePath"]: _usage(q) for q in _tree(one["queues"])}
            if name == "User":
                row["groups"] = one.get("groups") or None
            rows[f"{name} {one.get(key)}"] = row
    for one in _listed(asked(f"{_PARTITION}/nodes")):
        rows[f"Node {one['nodeID']}"] = {
            "schedulable": one.get("schedulable"),
            "reserved": bool(one.get("isReserved")),
            **{
                name: _amounts(one.get(name))
                for name in ("allocated", "available", "occupied")
            },
            "allocations": len(one.get("allocations") or []),
        }
    plain: Rows = json.loads(json.dumps(rows))
    return plain


def _listed(answer: Any) -> list[Document]:
    return answer if isinstance(answer, list) else []


def _tree(queue: Document) -> Iterator[Document]:
    yield queue
    for child in queue.get("children") or []:
        yield from _tree(child)


def _amounts(given: Document | None) -> Document | None:
    held = {name: value for name, value in sorted((given or {}).items()) if value}
    return held or None


def _pods(list_of: Callable[[str], list[Document]]) -> Rows:
    objects = {kind: list_of(kind) for kind in _OWNERS}
    owners = {
        one["metadata"].get("uid"): one["metadata"]
        for found in objects.values()
        for one in found
    }
    rows: Rows = {}
    for one in objects["Pod"]:
        name, row = _pod(one, owners)
        rows.setdefault(f"Pod {name}", []).append(row)
    for one in objects["Job"]:
        status = one.get("status") or {}
        rows[f"Job {one['metadata']['name']}"] = {
            count: status.get(count) or 0 for count in ("active", "succeeded", "failed")
        }
    return rows


def _owner(metadata: Document, owners: dict[str, Document], depth: int = 0) -> Any:
    references = metadata.get("ownerReferences") or []
    steering = next((one for one in references if one.get("controller")), None)
    if steering is None or depth > 3:
        return None
    above = owners.get(steering.get("uid"))
    named = f"{steering['kind']}/{steering['name']}"
    return (above and _owner(above, owners, depth + 1)) or named


def _pod(one: Document, owners: dict[str, Document]) -> tuple[str, Document]:
    metadata, spec, status = one["metadata"], one.get("spec") or {}, one.get("status")
    status = status or {}
    annotations = metadata.get("annotations") or {}
    labels = metadata.get("labels") or {}
    marks = [annotations.get(key) or labels.get(key) or "" for key in _PLACEHOLDER]
    is_placeholder = metadata["name"].startswith("tg-") or "true" in [
        str(mark).lower() for mark in marks
    ]
    phase = status.get("phase")
    bound = "Bound" if spec.get("nodeName") else "Waiting"
    row: Document = {
        "state": "Terminating"
        if metadata.get("deletionTimestamp")
        else phase
        if phase in _ENDED
        else bound,
        "node": spec.get("nodeName"),
        "priority": spec.get("priority") or 0,
        "conditions": {
            each["type"]: f"{each['status']}/{each.get('reason') or ''}"
            for each in status.get("conditions") or []
            if each["type"] in ("PodScheduled", "DisruptionTarget")
        },
    }
    place = metadata.get("namespace")
    if is_placeholder:
        row["copied"] = _copied(spec, annotations, labels)
        application = (
            labels.get("applicationId")
            or labels.get("yunikorn.apache.org/app-id")
            or annotations.get("yunikorn.apache.org/app-id")
        )
        return f"placeholder of {application} {annotations.get(_GROUP_OF_TASKS)}", row
    if owner := _owner(metadata, owners):
        return f"{place}/of {owner}", row
    return f"{place}/{metadata['name']}", row


def _copied(spec: Document, annotations: Document, labels: Document) -> Document:
    container = (spec.get("containers") or [{}])[0]
    return {
        "labels": {k: v for k, v in sorted(labels.items()) if k != "placeholder"},
        "nodeSelector": spec.get("nodeSelector") or None,
        "affinity": spec.get("affinity") or None,
        "tolerations": [
            one
            for one in spec.get("tolerations") or []
            if not one["key"].startswith("node.kubernetes.io/")
        ]
        or None,
        "class": spec.get("priorityClassName"),
        "spread": spec.get("topologySpreadConstraints") or None,
        "requests": (container.get("resources") or {}).get("requests"),
        "annotations": sorted(key for key in annotations if "yunikorn" in key),
    }


def _applications(asked: Callable[[str], Any]) -> Rows:
    rows: Rows = {}
    for state in ("active", "completed", "rejected"):
        for one in _listed(asked(f"{_PARTITION}/applications/{state}")):
            name = f"Application {one['applicationID']}"
            rows[name if state == "active" else f"{name} ({state})"] = {
                "list": state,
                "state": one.get("applicationState"),
                "queue": one.get("queueName"),
                "user": one.get("user"),
                "groups": one.get("groups") or None,
                "used": _amounts(one.get("usedResource")),
                "pending": _amounts(one.get("pendingResource")),
                "requests": len(one.get("requests") or []),
                "allocations": len(one.get("allocations") or []),
                "placeholders": sorted(
                    [
                        each.get("taskGroupName"),
                        each.get("count", 0),
                        each.get("replaced", 0),
                        each.get("timedout", 0),
                    ]
                    for each in one.get("placeholderData") or []
                )
                or None,
                "rejected": one.get("rejectedMessage") or None,
                "states": [each["applicationState"] for each in one["stateLog"]],
                "log": sorted(
                    {
                        each["message"]
                        for request in one.get("requests") or []
                        for each in request.get("allocationLog") or []
                    }
                )
                or None,
                "originators": [
                    1 for each in one.get("allocations") or [] if each.get("originator")
                ]
                or None,
            }
    return rows


def _queue(queue: Document) -> Document:
    return {
        "status": queue.get("status"),
        "leaf": bool(queue.get("isLeaf")),
        "managed": bool(queue.get("isManaged")),
        "allocated": _amounts(queue.get("allocatedResource")),
        "pending": _amounts(queue.get("pendingResource")),
        "preempting": _amounts(queue.get("preemptingResource")),
        "max": queue.get("maxResource") or None,
        "guaranteed": queue.get("guaranteedResource") or None,
        "headroom": queue.get("headroom") or None,
        "sort": queue.get("sortingPolicy"),
        "delay": queue.get("preemptionDelay"),
        "running": queue.get("runningApps") or 0,
        "maxApps": queue.get("maxRunningApps") or 0,
        "allocating": sorted(queue.get("allocatingAcceptedApps") or []) or None,
        "priority": queue.get("currentPriority") or 0,
        "preemption": queue.get("preemptionEnabled"),
        "fence": [
            queue.get("isPreemptionFence") or False,
            queue.get("isPriorityFence") or False,
            queue.get("priorityOffset") or 0,
        ],
    }


def _usage(queue: Document) -> list[Any]:
    return [
        _amounts(queue.get("resourceUsage")),
        sorted(queue.get("runningApplications") or []),
        queue.get("maxResources") or None,
        queue.get("maxApplications") or 0,
    ]


def compared(seen: Document, script: Document) -> Document:
    """Return what is compared of one play: less what is set aside, equal pods as one.

    Pods of one `apply` that differ in name alone are one row, since which of them is
    served first is not defined.
    """
    alike, soon = _alike(script), _looks_soon(script)
    kept: Document = {}
    for step, found in seen.items():
        if step.startswith("#") or step.endswith(" config"):
            continue
        if not isinstance(found, dict):
            kept[step] = found
            continue
        rows: Rows = {}
        for name, given in found.items():
            if isinstance(given, list):
                listed = [
                    _not_yet_said(row) if step in soon else row
                    for row in given
                    if row["state"] != "Succeeded"
                ]
                if listed:
                    rows.setdefault(str(alike.get(name, name)), []).extend(listed)
            elif (row := _plain(name.split()[0], given)) or "Queue" in name:
                if alike:  # the first of equal pods is the originator
                    row.pop("originators", None)
                rows[name] = row
        kept[step] = {
            name: sorted(row, key=_text) if isinstance(row, list) else row
            for name, row in rows.items()
        }
    return kept


#: Seconds that YuniKorn needs to tell of a new pod that more nodes would help it.
_UNTIL_SAID = 3


def _looks_soon(script: Document) -> set[str]:
    """Return the looks at which YuniKorn may not have told of the newest pods yet."""
    soon, age = set(), _UNTIL_SAID + 1
    for number, step in enumerate(script["steps"]):
        age += step.get("advance", 0)
        if any(one["kind"] == "Pod" for one in step.get("apply") or []):
            age = 0
        if "see" in step and age <= _UNTIL_SAID:
            soon.add(f"{number} see {step['see']}")
    return soon


def _not_yet_said(row: Document) -> Document:
    conditions = row.get("conditions") or {}
    if row["state"] != "Waiting" or not conditions.get("PodScheduled", "").startswith(
        "F"
    ):
        return row
    left = {name: said for name, said in conditions.items() if name != "PodScheduled"}
    return {**row, "conditions": left}


def _plain(kind: str, row: Document) -> Document:
    if kind in ("User", "Group"):  # queues of no usage stay or go
        return {
            path: [used, *most]
            for path, (used, _, *most) in (
                each for each in row.items() if isinstance(each[1], list)
            )
            if path != "groups" and used
        }
    return {name: value for name, value in row.items() if (kind, name) not in _FIELDS}


def _alike(script: Document) -> dict[str, str]:
    names: dict[str, list[str]] = {}
    for number, step in enumerate(script["steps"]):
        for document in step.get("apply") or []:
            if document["kind"] != "Pod":
                continue
            metadata = document["metadata"]
            place = metadata.get("namespace")
            labels, notes = metadata.get("labels"), metadata.get("annotations")
            key = _text([number, labels, notes, document["spec"], place])
            name = f"Pod {place or 'default'}/{metadata['name']}"
            names.setdefault(key, []).append(name)
    return {
        name: f"{group[0]} and its like"
        for group in names.values()
        if len(group) > 1
        for name in group
    }


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
