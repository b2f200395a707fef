"""Which changes between two releases a script may notice though no play shows them."""

from __future__ import annotations

from collections.abc import Iterator

from api.proving.playing import DEFAULT_NAMESPACE, OF_CLUSTER, Document
from scheduler.analysis.release_rules import differing
from scheduler.analysis.traits import traits_of
from scheduler.model.objects import Key, Object
from scheduler.model.policy import PolicySpec, read_policy
from scheduler.model.releases.rules import Rule

_EDITS = ("patch", "delete", "deletePodOf", "deleteOf", "config")


def unfollowed(before: Document, after: Document) -> list[Rule]:
    """Return the changes between the releases of two forms of a script that its objects
    concern and that are not followed: of what is decided, or stands in a status.
    """
    first, last = _spec(before), _spec(after)
    traits = traits_of(_objects(after), last)
    edits = any(name in step for step in after["steps"] for name in _EDITS)
    return [
        rule
        for rule in differing(first, last)
        if not rule.followed
        and rule.shows in ("decisions", "status")
        and (not rule.when or (rule.when == "edit" and edits))
        and rule.matters(traits, last.kueue)
    ]


def _spec(script: Document) -> PolicySpec:
    stack = "yunikorn" if "queues" in script else "kueue"
    spec: Document = {"release": script["release"], "stack": stack}
    if config := script.get("config"):
        spec["kueue"] = config
    return read_policy({"spec": spec}).spec


def _objects(script: Document) -> Iterator[Object]:
    for step in script["steps"]:
        for document in step.get("apply") or ():
            kind, metadata = document["kind"], document["metadata"]
            namespace = metadata.get("namespace") or DEFAULT_NAMESPACE
            key = Key(
                kind,
                "" if kind in OF_CLUSTER else namespace,
                str(metadata.get("name") or metadata.get("generateName")),
            )
            yield Object(key=key, manifest=document)
