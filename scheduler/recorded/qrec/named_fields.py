"""Which fields of an object hold a name, a label's value, or a word that stays.

A schema says it of the fields that it has (`holds`, or that a text is spelled as a name
is); here are those that no schema has.
"""

from __future__ import annotations

from scheduler.model import schemas
from scheduler.model.annotations import KNOWN, RUNTIME_SOURCE

#: Fields whose meaning depends on the list that they stand in.
_BY_LIST = frozenset({"name", "value"})


def _holding(type_: str) -> frozenset[str]:
    """Return the fields of a plain type whose texts are names."""
    return frozenset(
        name
        for fields in schemas.types().values()
        for name, one in fields.items()
        if one.type == type_ and one.is_name and name not in _BY_LIST
    )


def _lists(field: str, holds: str) -> frozenset[str]:
    """Return the lists whose items have a field that is said to hold this."""
    return frozenset(
        name
        for fields in schemas.types().values()
        for name, one in fields.items()
        if one.type.startswith("[]")
        and (inner := schemas.fields_of(one.type[2:]).get(field)) is not None
        and inner.holds == holds
    )


#: Fields whose text is a name, wherever they stand.
NAMES = _holding("string") | {
    "admissionCheck",
    "group",
    "groups",
    "host",
    "localQueue",
    "parent",
    "podName",
    "priorityClass",
    "queue",
    "user",
    "users",
}
#: Lists whose items have a `name` that is a resource, a role or a gate: no secret.
PLAIN = _lists("name", "word") | {
    "dependsOn",
    "deviceClassMappings",
    "gpu",
    "jobsStatus",
    "replicatedJobs",
    "replicatedJobsStatus",
    "transformations",
}
#: Lists whose items have a `value` that is one of a label.
VALUED = _lists("value", "name") | {"startupTaints"}
#: Fields below which each value is a name or a label's value.
MAPPINGS = _holding("map string") | {"clusterSelector", "provisioningClassDetails"}
#: Fields below which each name is that of a pod.
BY_NAME = frozenset(["disruptedPods", "executorState"])
#: Lists of texts that are names.
LISTS = _holding("[]string") | {"deviceClassNames", "groups", "nodeNames", "users"}
#: Not written at all.
ADDRESSES = frozenset(
    ["addresses", "podIP", "podIPs", "hostIP", "hostIPs", "clusterIP"]
)
#: Annotations whose values are switches and spans.
SWITCHES = frozenset(
    {
        *KNOWN,
        "yunikorn.apache.org/schedulingPolicyParameters",
        "resource.kubernetes.io/pod-claim-name",
    }
) - {RUNTIME_SOURCE}
#: Names that a scheduler or the API treats in a way of its own.
KEPT = frozenset(
    [
        "default",
        "main",
        "kube-system",
        "kube-public",
        "kueue-system",
        "system-node-critical",
        "system-cluster-critical",
        "default-scheduler",
        "yunikorn",
        "root",
        "*",
        "node",
        "trainer",
        "true",
        "false",
        "linux",
        "windows",
        "amd64",
        "arm64",
    ]
)
