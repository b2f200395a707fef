"""Which fields of an object hold a name, a label's value, or a word that stays."""

from __future__ import annotations

from scheduler.model.annotations import KNOWN, RUNTIME_SOURCE

#: Fields whose text is a name, wherever they stand.
NAMES = frozenset(
    [
        "admissionCheck",
        "claimName",
        "clusterName",
        "clusterQueue",
        "cohort",
        "cohortName",
        "deviceClassName",
        "generateName",
        "group",
        "groups",
        "host",
        "hostname",
        "localQueue",
        "namespace",
        "nodeName",
        "nominatedNodeName",
        "parent",
        "parentName",
        "podName",
        "pool",
        "priorityClass",
        "priorityClassName",
        "prefix",
        "queue",
        "queueName",
        "resourceClaimName",
        "resourceClaimTemplateName",
        "runtimeClassName",
        "serviceAccount",
        "serviceAccountName",
        "serviceName",
        "storageClassName",
        "subdomain",
        "topology",
        "topologyName",
        "user",
        "users",
        "volumeHandle",
        "volumeName",
    ]
)
#: Lists whose items have a `name` that is a resource, a role or a gate: no secret.
PLAIN = frozenset(
    [
        "resources",
        "resourceRequests",
        "podSets",
        "podSetAssignments",
        "podSetUpdates",
        "ports",
        "gpu",
        "schedulingGates",
        "preemptionGates",
        "replicatedJobs",
        "replicatedJobsStatus",
        "jobsStatus",
        "dependsOn",
        "drivers",
        "devices",
        "requests",
        "resourceClaims",
        "transformations",
        "deviceClassMappings",
    ]
)
#: Fields below which each value is a name or a label's value.
MAPPINGS = frozenset(
    [
        "labels",
        "matchLabels",
        "nodeSelector",
        "nodeLabels",
        "flavors",
        "clusterSelector",
        "provisioningClassDetails",
    ]
)
#: Fields below which each name is that of a pod.
BY_NAME = frozenset(["disruptedPods", "executorState"])
#: Lists of texts that are names.
LISTS = frozenset(
    [
        "clusters",
        "values",
        "names",
        "users",
        "groups",
        "namespaces",
        "nodeNames",
        "roots",
        "onFlavors",
        "nominatedClusterNames",
        "deviceClassNames",
    ]
)
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
