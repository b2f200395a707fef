"""What a conversion does not carry over, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words


class NotCarried(Words):
    """That something is not carried over, as a finding of an import."""

    FROM = ("lost.from", "converted from {systems}: what came of it is in {file}")
    FROM_STACK = (
        "lost.fromStack",
        "converted from another stack: what came of it is in {file}",
    )
    OF = ("lost.of", "not carried over: {subject}: {what}")
    SORT = ("lost.sort", "not carried over: {what}")


class LostOfKueue(Words):
    """What YuniKorn has no word for."""

    CONFIGURATION = ("lost.configuration", "Kueue's own configuration")
    CHECKS = ("lost.checks", "admission checks")
    LABELS = ("lost.labels", "its node labels no longer steer pods")
    TAINTS = ("lost.taints", "its node taints")
    WEIGHT = ("lost.weight", "its fair sharing weight")
    FLAVORS = ("lost.flavors", "the split over flavors {names}")
    ZERO = ("lost.zero", "a {resource} quota of 0: it is unlimited now")
    LENDING = ("lost.lending", "the lending limit of {resource}")
    STRICT = (
        "lost.strict",
        "StrictFIFO: the head no longer holds back those behind it",
    )
    STOP = ("lost.stop", "stopPolicy {policy}")
    SELECTOR = ("lost.selector", "its namespaceSelector")
    WITHIN = ("lost.within", "preemption within the queue")
    BORROW_WITHIN = ("lost.borrowWithin", "borrowWithinCohort")
    RECLAIM_LOWER = (
        "lost.reclaimLower",
        "reclaiming from lower priority only: equal priority goes too",
    )
    RECLAIM_HIGHER = ("lost.reclaimHigher", "reclaiming from higher priority")
    PRIORITY_CLASS = ("lost.priorityClass", "its WorkloadPriorityClass")
    NOWHERE = ("lost.nowhere", "its LocalQueue {name}, which leads nowhere")


class LostOfYuniKorn(Words):
    """What Kueue has no word for in YuniKorn's queues."""

    RULES = ("lost.rules", "placement rules: jobs go where the rules sent them")
    LIMITS = ("lost.limits", "user and group limits")
    WEIGHTS = ("lost.weights", "resource weights of the node order")
    QUOTA_PREEMPTION = ("lost.quotaPreemption", "quota-change preemption")
    PREEMPTION_OFF = ("lost.preemptionOff", "preemption switched off")
    EQUAL = ("lost.equal", "of pods of equal priority")
    PARENT_MAX = ("lost.parentMax", "the max of a parent queue")
    SORT_POLICY = ("lost.sortPolicy", "application sort {policy}")
    NO_PRIORITIES = ("lost.noPriorities", "ignoring priorities")
    FENCE = ("lost.fence", "priority fence")
    OFFSET = ("lost.offset", "priority offset")
    DISABLED = ("lost.disabled", "preemption policy disabled")
    OPEN_FENCE = ("lost.openFence", "a fence that others may look into")
    DELAY = ("lost.delay", "preemption delay")
    QUOTA_DELAY = ("lost.quotaDelay", "quota preemption delay")
    MAX_APPLICATIONS = ("lost.maxApplications", "maxapplications")
    TEMPLATE = ("lost.template", "the template for new queues")
    NO_QUEUE = ("lost.noQueue", "it has no queue: YuniKorn rejects it")
    TASK_GROUPS = ("lost.taskGroups", "task groups: Kueue admits whole jobs anyway")


class LostOfForeign(Words):
    """What Kueue has no word for in objects of Volcano or KAI."""

    NO_NODE = ("lost.noNode", "no Node is among the files: its quota has no bound")
    AMOUNT = ("lost.amount", "{name}: {problem}")
    QUEUE_PRIORITY = ("lost.queuePriority", "its priority among queues")
    PREEMPT_MIN = ("lost.preemptMin", "preemptMinRuntime")
    RECLAIM_MIN = ("lost.reclaimMin", "reclaimMinRuntime")
    PARENT_QUOTA = (
        "lost.parentQuota",
        "quota and limit of a parent: its queues' count",
    )
    UNLIMITED = (
        "lost.unlimited",
        "an unlimited quota of {resource}: it is the cluster's",
    )
    EACH_WEIGHT = ("lost.eachWeight", "a weight for each resource: that of gpu counts")
    MIN_MEMBER = ("lost.minMember", "minMember {least}: all {total} pods are admitted")
    PREEMPTIBILITY = ("lost.preemptibility", "preemptibility: priority decides")
    WHOLE_GPU = ("lost.wholeGpu", "{name}: a whole GPU is asked for")
    OBJECT = ("lost.object", "the whole object")
    ACTIONS = (
        "lost.actions",
        "the order of its actions and plug-ins (volcano-scheduler)",
    )
    RECLAIMABLE = (
        "lost.reclaimable",
        "reclaimable: false (what it borrows can be taken back)",
    )
    AFFINITY = ("lost.affinity", "its affinity to node groups")
    DEQUEUE = ("lost.dequeue", "its dequeue strategy")
    EXTENDED = ("lost.extended", "the clusters that it extends to")
    GROWING = (
        "lost.growing",
        "growing from {least} to {total} pods: it keeps the number of pods with which "
        "it is admitted",
    )
    MIN_AVAILABLE = (
        "lost.minAvailable",
        "minAvailable {least}: all {total} pods are admitted",
    )
    PLUGINS = ("lost.plugins", "its plug-ins")
    POLICIES = ("lost.policies", "its policies (what restarts or ends it)")
    ORDER = ("lost.order", "the order of its tasks (dependsOn)")
    TASK_AVAILABLE = ("lost.taskAvailable", "minAvailable of single tasks")
    VOLUMES = ("lost.volumes", "its volumes")
    TOPOLOGY = ("lost.topology", "its network topology")
    MIN_SUCCESS = ("lost.minSuccess", "minSuccess")
