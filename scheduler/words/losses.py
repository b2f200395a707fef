"""What a conversion does not carry over, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words


class NotCarried(Words, prefix="lost"):
    """That something is not carried over, as a finding of an import."""

    FROM = "converted from {systems}: what came of it is in {file}"
    FROM_STACK = "converted from another stack: what came of it is in {file}"
    OF = "not carried over: {subject}: {what}"
    SORT = "not carried over: {what}"


class LostOfKueue(Words, prefix="lost"):
    """What YuniKorn has no word for."""

    CONFIGURATION = "Kueue's own configuration"
    CHECKS = "admission checks"
    LABELS = "its node labels no longer steer pods"
    TAINTS = "its node taints"
    WEIGHT = "its fair sharing weight"
    FLAVORS = "the split over flavors {names}"
    ZERO = "a {resource} quota of 0: it is unlimited now"
    LENDING = "the lending limit of {resource}"
    STRICT = "StrictFIFO: the head no longer holds back those behind it"
    STOP = "stopPolicy {policy}"
    SELECTOR = "its namespaceSelector"
    WITHIN = "preemption within the queue"
    BORROW_WITHIN = "borrowWithinCohort"
    RECLAIM_LOWER = "reclaiming from lower priority only: equal priority goes too"
    RECLAIM_HIGHER = "reclaiming from higher priority"
    PRIORITY_CLASS = "its WorkloadPriorityClass"
    NOWHERE = "its LocalQueue {name}, which leads nowhere"


class LostOfYuniKorn(Words, prefix="lost"):
    """What Kueue has no word for in YuniKorn's queues."""

    RULES = "placement rules: jobs go where the rules sent them"
    LIMITS = "user and group limits"
    WEIGHTS = "resource weights of the node order"
    QUOTA_PREEMPTION = "quota-change preemption"
    PREEMPTION_OFF = "preemption switched off"
    EQUAL = "of pods of equal priority"
    PARENT_MAX = "the max of a parent queue"
    SORT_POLICY = "application sort {policy}"
    NO_PRIORITIES = "ignoring priorities"
    FENCE = "priority fence"
    OFFSET = "priority offset"
    DISABLED = "preemption policy disabled"
    OPEN_FENCE = "a fence that others may look into"
    DELAY = "preemption delay"
    QUOTA_DELAY = "quota preemption delay"
    MAX_APPLICATIONS = "maxapplications"
    TEMPLATE = "the template for new queues"
    NO_QUEUE = "it has no queue: YuniKorn rejects it"
    TASK_GROUPS = "task groups: Kueue admits whole jobs anyway"


class LostOfForeign(Words, prefix="lost"):
    """What Kueue has no word for in objects of Volcano or KAI."""

    NO_NODE = "no Node is among the files: its quota has no bound"
    AMOUNT = "{name}: {problem}"
    QUEUE_PRIORITY = "its priority among queues"
    PREEMPT_MIN = "preemptMinRuntime"
    RECLAIM_MIN = "reclaimMinRuntime"
    PARENT_QUOTA = "quota and limit of a parent: its queues' count"
    UNLIMITED = "an unlimited quota of {resource}: it is the cluster's"
    EACH_WEIGHT = "a weight for each resource: that of gpu counts"
    MIN_MEMBER = "minMember {least}: all {total} pods are admitted"
    PREEMPTIBILITY = "preemptibility: priority decides"
    WHOLE_GPU = "{name}: a whole GPU is asked for"
    OBJECT = "the whole object"
    ACTIONS = "the order of its actions and plug-ins (volcano-scheduler)"
    RECLAIMABLE = "reclaimable: false (what it borrows can be taken back)"
    AFFINITY = "its affinity to node groups"
    DEQUEUE = "its dequeue strategy"
    EXTENDED = "the clusters that it extends to"
    GROWING = (
        "growing from {least} to {total} pods: it keeps the number of pods with which "
        "it is admitted"
    )
    MIN_AVAILABLE = "minAvailable {least}: all {total} pods are admitted"
    PLUGINS = "its plug-ins"
    POLICIES = "its policies (what restarts or ends it)"
    ORDER = "the order of its tasks (dependsOn)"
    TASK_AVAILABLE = "minAvailable of single tasks"
    VOLUMES = "its volumes"
    TOPOLOGY = "its network topology"
    MIN_SUCCESS = "minSuccess"
