"""The fields that are read, kind by kind, with what they mean here.

A line is `path: type: meaning`; `[]` marks a list. Fields that are not named are
kept as given, so the schemas made of this leave every object open.
"""

from __future__ import annotations

_POD_SPEC = """
containers[]: object: What runs; the amounts asked for are added up.
containers[].name: string: Name, unique in the pod.
containers[].image: string: Image; nodes that have it score higher.
containers[].ports[].hostPort: integer: Port of the node that the pod takes.
containers[].resources.requests: amounts: What is reserved on the node.
containers[].resources.limits: amounts: Stands for the requests that are not given.
initContainers[]: object: What runs before; the largest counts, restartable ones add up.
initContainers[].resources.requests: amounts: What is reserved while it runs.
overhead: amounts: Added to what the containers ask for.
nodeSelector: texts: Labels that a node must have.
nodeName: string: The node that the pod is bound to.
affinity: object: Nodes and neighbours that are required or preferred.
affinity.nodeAffinity: object: Terms over labels of nodes.
affinity.podAffinity: object: Pods to be near to.
affinity.podAntiAffinity: object: Pods to be away from.
tolerations[]: object: Taints that the pod bears.
tolerations[].key: string: Key of the taint; empty with Exists means every taint.
tolerations[].operator: string: Exists or Equal.
tolerations[].value: string: Value of the taint.
tolerations[].effect: string: NoSchedule, PreferNoSchedule or NoExecute; empty is each.
topologySpreadConstraints[]: object: How evenly pods are spread over domains.
topologySpreadConstraints[].maxSkew: integer: How much more a domain may hold.
topologySpreadConstraints[].topologyKey: string: Label of nodes that names the domain.
topologySpreadConstraints[].whenUnsatisfiable: string: DoNotSchedule or ScheduleAnyway.
topologySpreadConstraints[].minDomains: integer: Domains that must be there.
priority: integer: Priority of the pod; higher goes first.
priorityClassName: string: PriorityClass that gives the priority.
preemptionPolicy: string: PreemptLowerPriority or Never.
schedulerName: string: Profile of the scheduler that places the pod.
schedulingGates[].name: string: A gate that holds the pod back until it is removed.
runtimeClassName: string: RuntimeClass that adds overhead and node labels.
terminationGracePeriodSeconds: integer: Seconds from deletion until it is gone.
activeDeadlineSeconds: integer: Seconds after which the pod is ended.
"""

_QUOTAS = """
spec.cohortName: string: Cohort whose unused quota may be borrowed.
spec.resourceGroups[]: object: Resources that are given together, flavor by flavor.
spec.resourceGroups[].coveredResources[]: string: Resources of the group.
spec.resourceGroups[].flavors[]: object: Flavors in the order in which they are tried.
spec.resourceGroups[].flavors[].name: string: Name of a ResourceFlavor.
spec.resourceGroups[].flavors[].resources[]: object: A quota per covered resource.
spec.resourceGroups[].flavors[].resources[].name: string: The resource.
spec.resourceGroups[].flavors[].resources[].nominalQuota: quantity: Its own quota.
spec.resourceGroups[].flavors[].resources[].borrowingLimit: quantity: The most that may be borrowed; without it there is no limit.
spec.resourceGroups[].flavors[].resources[].lendingLimit: quantity: The most that others may borrow of it.
spec.fairSharing.weight: quantity: Weight of its share; 1 by default.
"""

_PREEMPTION = """
spec.preemption: object: Which running Workloads may be stopped for a waiting one.
spec.preemption.withinClusterQueue: string: Never, LowerPriority or LowerOrNewerEqualPriority.
spec.preemption.reclaimWithinCohort: string: Never, LowerPriority or Any.
spec.preemption.borrowWithinCohort.policy: string: Never or LowerPriority.
spec.preemption.borrowWithinCohort.maxPriorityThreshold: integer: Highest priority that may be stopped so.
spec.flavorFungibility.whenCanBorrow: string: MayStopSearch or TryNextFlavor.
spec.flavorFungibility.whenCanPreempt: string: MayStopSearch or TryNextFlavor.
spec.flavorFungibility.preference: string: BorrowingOverPreemption or PreemptionOverBorrowing.
spec.namespaceSelector: object: Namespaces whose Workloads may use it; an empty object is all, none is no namespace.
spec.queueingStrategy: string: BestEffortFIFO or StrictFIFO.
spec.stopPolicy: string: None, Hold or HoldAndDrain.
spec.admissionChecksStrategy.admissionChecks[].name: string: An AdmissionCheck that must be Ready.
spec.admissionChecksStrategy.admissionChecks[].onFlavors[]: string: Flavors that need it; none named is all.
spec.admissionScope.admissionMode: string: How usage of the past counts in the order.
"""

_WORKLOAD = """
spec.queueName: string: LocalQueue of the same namespace.
spec.active: boolean: False stops it and keeps it from being admitted.
spec.priority: integer: Priority; higher goes first.
spec.priorityClassRef: object: Class that gives the priority.
spec.maximumExecutionTimeSeconds: integer: Seconds of execution after which it is stopped.
spec.podSets[]: object: Groups of equal pods.
spec.podSets[].name: string: Name, unique in the Workload.
spec.podSets[].count: integer: Number of pods.
spec.podSets[].minCount: integer: Number of pods that do as well (partial admission).
spec.podSets[].template: object: The pods.
spec.podSets[].topologyRequest: object: Topology level that the pods need or prefer.
"""

_JOB = """
spec.suspend: boolean: Held until it is admitted; set by the simulation.
spec.parallelism: integer: Pods at a time.
spec.completions: integer: Pods that must succeed.
spec.completionMode: string: NonIndexed or Indexed.
spec.activeDeadlineSeconds: integer: Seconds after which it is ended.
spec.template: object: The pods.
"""

_NODE = """
spec.unschedulable: boolean: Cordoned: no new pods.
spec.taints[]: object: What pods must tolerate.
spec.taints[].key: string: Key of the taint.
spec.taints[].value: string: Value of the taint.
spec.taints[].effect: string: NoSchedule, PreferNoSchedule or NoExecute.
status.allocatable: amounts: What pods may ask for.
status.capacity: amounts: Stands for allocatable where that is not given.
"""


def _below(path: str, lines: str) -> str:
    """Return the lines with a path before each."""
    return "\n".join(f"{path}.{line}" for line in lines.strip().splitlines())


FIELDS: dict[str, str] = {
    "ClusterQueue": _QUOTAS + _PREEMPTION,
    "Cohort": _QUOTAS.replace(
        "spec.cohortName: string: Cohort", "spec.parentName: string: Cohort above,"
    ),
    "LocalQueue": """
spec.clusterQueue: string: ClusterQueue that it leads to.
spec.stopPolicy: string: None, Hold or HoldAndDrain.
spec.fairSharing.weight: quantity: Weight of its share in the order of the queue.
""",
    "ResourceFlavor": """
spec.nodeLabels: texts: Labels of the nodes of the flavor.
spec.nodeTaints[]: object: Taints of its nodes, that Workloads must tolerate.
spec.tolerations[]: object: Tolerations that its pods get.
spec.topologyName: string: Topology of its nodes.
""",
    "Topology": """
spec.levels[]: object: Levels from the widest to the narrowest.
spec.levels[].nodeLabel: string: Label of nodes that names the domain.
""",
    "AdmissionCheck": "spec.controllerName: string: Who answers the check; a rule of the policy does so here.",
    "WorkloadPriorityClass": """
value: integer: Priority of Workloads that name it.
description: string: For people.
""",
    "PriorityClass": """
value: integer: Priority of pods that name it.
globalDefault: boolean: Whether it is that of pods that name none.
preemptionPolicy: string: PreemptLowerPriority or Never.
description: string: For people.
""",
    "Workload": _WORKLOAD + _below("spec.podSets[].template.spec", _POD_SPEC),
    "Job": _JOB + _below("spec.template.spec", _POD_SPEC),
    "Pod": _below("spec", _POD_SPEC),
    "Node": _NODE,
    "PodDisruptionBudget": """
spec.minAvailable: quantity: Pods that must stay; a number or a percentage.
spec.maxUnavailable: quantity: Pods that may be missing; a number or a percentage.
spec.selector: object: The pods that it protects.
""",
    "PodGroup": "spec.minMember: integer: Pods that must have a node before any is bound.",
}
for _kind in ("Deployment", "StatefulSet", "ReplicaSet"):
    FIELDS[_kind] = "spec.replicas: integer: Number of pods.\n" + _below(
        "spec.template.spec", _POD_SPEC
    )
