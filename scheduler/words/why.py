"""Why a Workload waits, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words


class Why(Words, prefix="why"):
    """What an admission cycle decides about a Workload, and where it stands in line."""

    NOT_TRIED = "It is not tried for admission: {why}."
    ADMITTED = "Tried now as the head of its queue, it would be admitted."
    PREEMPTS = "Tried now as the head of its queue, it would preempt {names}."
    SKIPPED = "Tried now, {message}."
    WAITS = "Tried now as the head of its queue, it would wait."
    WAITS_AS = "Tried now as the head of its queue, it would wait: {reason}."
    MISCONFIGURED = "It is not admitted, whatever quota is free: {message}."
    NOT_FOR_QUOTA = (
        "It does not wait for quota: it is tried again when what is named is changed."
    )
    NOT_BEFORE = "It is not tried again before {seconds} s."
    HOLDS = "It holds {held} in flavor {flavor}."
    BORROWS = (
        "It holds {held} in flavor {flavor}, where {queue} borrows {borrowed} from its "
        "cohort."
    )
    REDUCED = "It runs with {n} of its {of} pods: it was admitted in part."
    SET_ASIDE = "It is set aside until quota is released in its tree."
    STRICT = (
        "It is {place} of {of} in its ClusterQueue: StrictFIFO tries nobody before "
        "{head} is admitted."
    )
    BEHIND = "It is {place} of {of} in its ClusterQueue, behind {name}."
    HEAD = ("why.theHead", "the head")
    REPLACES = (
        "It is to replace {name}, whose job grows: only what it asks beyond that "
        "one's quota counts, on the same flavors."
    )
    GROWS = "Its job grows: {name} waits to take over its quota."
    VARIANT_OF = (
        "It is the variant of {name} for flavor {flavor}, which runs as the first of "
        "its variants that is admitted."
    )
    VARIANT = "Variant {name} for flavor {flavor}: {state}."
    VARIANT_INACTIVE = ("why.variant.inactive", "it is not active")
    VARIANT_ADMITTED = ("why.variant.admitted", "it is admitted")
    VARIANT_UNTRIED = ("why.variant.untried", "it was not tried yet")


class NotTried(Words, prefix="notTried"):
    """Why a Workload is not tried for admission."""

    FUTURE = "it has not arrived yet"
    FINISHED = "it ran to its end"
    NO_QUEUE = "its LocalQueue {queue} leads to ClusterQueue {name}, which is not here"
    NO_LOCAL_QUEUE = "there is no LocalQueue {queue} in namespace {namespace}"
    HOLDS_QUOTA = "it holds quota"
    INACTIVE = "it is not active"
    KEPT_OUT = (
        "Kueue deactivated it ({reason}), and to make it active again does not let it "
        "queue; only a new Workload gets quota"
    )
    OVERTIME = (
        "Kueue deactivated it ({reason}) and deactivates it again when it is made "
        "active; only a new Workload gets quota"
    )
    GATED = "it is gated"
    VARIANTS = "its variants are tried in its place, one for each flavor"
    STOPPED = "stopPolicy of {kind} {queue} is {value}"
    CLUSTER_QUEUE = "ClusterQueue {queue} is not active: {message}"


class Short(Words, prefix="short"):
    """What is short of quota or of places, and why nobody goes for it."""

    BARRED = "Flavor {flavor} cannot run its pods: {reason}."
    SELECTOR = (
        "Its nodeSelector asks for {asked}; nodeLabels of flavor {flavor}: {given}."
    )
    NAMESPACE = (
        "namespaceSelector of {queue} asks for {asked}; labels of Namespace {namespace}: "
        "{given}."
    )
    NO_SELECTOR = "ClusterQueue {queue} has no namespaceSelector, so it takes work of no namespace."
    LIMIT_RANGE = "LimitRange {name} sets {limits}."
    UNCOVERED = "{asked} asked, and its ClusterQueue has no quota of {resource}."
    SHORT = "Flavor {flavor}: {asked} asked, {free} free; short by {short}."
    NEVER = (
        "Flavor {flavor}: {asked} asked, {free} free, and no more than {most} could "
        "ever be; short by {short}."
    )
    BORROWING = (
        "Its cohort has more that is free: borrowingLimit of {queue} is {limit}."
    )
    LENDING = (
        "{queue} has {kept} free that it does not lend: its lendingLimit is {limit}."
    )
    PLACES = "{podSet} has places in flavor {flavor} {where}."
    NO_PLACES = "{podSet}: {reason}."
    NO_DOMAIN = (
        "No domain of {level} takes the {needed} pods of {podSet} {where}: the "
        "roomiest has places for {best}."
    )
    EMPTY = "with nobody else there"
    NOW = "as things are now"
    NOBODY_GOES = (
        "Preemption: {n} workload holds what is needed, and it may not go.|"
        "Preemption: {n} workloads hold what is needed, and none of them may go."
    )
    COST = (
        "Cost of the search for victims: candidates examined {looked}, "
        "simulations {simulations}.|"
        "Cost of {n} searches for victims: candidates examined {looked}, "
        "simulations {simulations}."
    )
    ALL_REFUSED = (
        "Preemption: {n} candidate looked at, all refused.|"
        "Preemption: {n} candidates looked at, all refused."
    )
    NOT_ENOUGH = (
        "Preemption: {n} candidate looked at; all who may go are not enough.|"
        "Preemption: {n} candidates looked at; all who may go are not enough."
    )
    NO_BORROWING = (
        "Preemption is not tried in flavor {flavor}: {asked} is more than its nominal "
        "quota of {nominal}, and it may not preempt to borrow (borrowWithinCohort of "
        "{queue} is Never)."
    )


class Gate(Words, prefix="gate"):
    """The field that keeps a Workload from preempting who holds what it needs."""

    WITHIN_NEVER = (
        "{n} workload of its own queue holds it, and withinClusterQueue of {queue} is "
        "Never.|{n} workloads of its own queue hold it, and withinClusterQueue of {queue} "
        "is Never."
    )
    WITHIN_PRIORITY = (
        "{n} workload of its own queue holds it, and it may not go: withinClusterQueue of "
        "{queue} is {policy}, and the priority of the preemptor is {priority}.|"
        "{n} workloads of its own queue hold it, and none may go: withinClusterQueue of "
        "{queue} is {policy}, and the priority of the preemptor is {priority}."
    )
    RECLAIM_NEVER = (
        "{n} workload of other queues holds it, and reclaimWithinCohort of {queue} is "
        "Never.|{n} workloads of other queues hold it, and reclaimWithinCohort of {queue} "
        "is Never."
    )
    RECLAIM_PRIORITY = (
        "{n} workload of {holder} holds it, and it may not go: reclaimWithinCohort of "
        "{queue} is {policy}, and the priority of the preemptor is {priority}.|"
        "{n} workloads of {holder} hold it, and none may go: reclaimWithinCohort of "
        "{queue} is {policy}, and the priority of the preemptor is {priority}."
    )
    WITHIN_NOMINAL = (
        "{n} workload of {holder} holds it within the nominal quota of {holder}, which "
        "nobody takes back.|{n} workloads of {holder} hold it within the nominal quota of "
        "{holder}, which nobody takes back."
    )
    BORROW_NEVER = (
        "To borrow, {queue} may preempt nobody of another queue: borrowWithinCohort is "
        "Never."
    )
    BORROW_PRIORITY = (
        "{name} has priority {priority}, and may not go while {queue} borrows: "
        "borrowWithinCohort is LowerPriority, and the preemptor has {below}."
    )
    THRESHOLD = (
        "{name} has priority {priority}, and may not go while {queue} borrows: "
        "borrowWithinCohort.maxPriorityThreshold of {queue} is {value}."
    )
    SHARE = (
        "{name} of {holder} may not go under fair sharing: by {rule} the share of {queue} "
        "would be {ours}, and that of {holder} is {theirs}."
    )


class Unplaced(Words, prefix="unplaced"):
    """Pods of what was admitted, or of nobody, that have no node."""

    NONE_YET = "Its pods are not made yet."
    SOME = (
        "{n} of its {of} pods is on no node. {pod}: {message}|"
        "{n} of its {of} pods are on no node. {pod}: {message}"
    )
    NOT_TRIED = "it was not tried yet."
    NO_NODE = "Its nodeName is {node}, and there is no node {node}: nothing starts it."
    TOGETHER = "Its gang needs {of} places at once, and {n} of its pods fit now; {pod} does not:"
    ALL_TOGETHER = (
        "Its gang needs {of} places at once, and {n} of its pods fit now: it waits to be "
        "tried again."
    )
    SOME_TOGETHER = (
        "Its gang needs {of} places at once; the first {n} of its pods fit now, and no more "
        "were looked at."
    )
    RESERVING = (
        "Its application takes all places of its gang first, and has {n} of {of}."
    )
    REFUSED = "{n} node: {why}|{n} nodes: {why}"
    NOT_MADE = "No more of its pods are made: {why}"
    WITHHELD = "pods are not made: {why}"
    WEBHOOK = (
        "{kind} {configuration} says failurePolicy Fail of webhook {name}, and no pod of "
        "Service {service} is ready. With failurePolicy Ignore pods are made without it."
    )
    WEBHOOKS = (
        "{kind} {configuration} says failurePolicy Fail of webhook {name}, and no pod of "
        "Service {service} is ready. Down, too: {others}. With failurePolicy Ignore of all "
        "of them pods are made without them."
    )
    DEADLOCK = (
        "Its rules take the pods of its own Service, too: it does not come back by itself "
        "unless its namespaceSelector leaves out namespace {namespace}."
    )
    DEADLOCKS = (
        "Pods of its Service wait for {names}, and those wait for it: none comes back by "
        "itself unless a namespaceSelector leaves out namespace {namespace}."
    )
    NEXT_TRY = "That is tried again in {span}."
    FAILED = "{n} of its pods failed."
    AGAIN = "Its back-off ends in {span}; then another pod is made."
    BACKOFF = "in back-off after a pod that failed"
    FRAGMENTED = (
        "Free: {free} on {nodes} nodes together, at most {most} on one; a pod that asks "
        "for {asked} fits on none."
    )


class Asked(Words, prefix="asked"):
    """Answers about queues, nodes, groups of pods, and about all that waits."""

    ON_NODE = "on {node}"
    ON_NONE = "on no node"
    ALL_PLACED = "Its {n} pod has a node.|All {n} pods have a node."
    SOME_WAIT = (
        "{n} of {of} pods is on no node; of {pod}:|"
        "{n} of {of} pods are on no node; of the first, {pod}:"
    )
    LINE = "{waiting} wait for quota, {held} hold it."
    CAUSE = "{n} waits: {why}|{n} wait: {why}"
    USED = "Flavor {flavor}: {used} used, nominal quota {nominal}."
    OF_TREE = (
        "Flavor {flavor}: {quota} is the quota of it and of all below it together."
    )
    SHARE = (
        "It borrows {borrowed} of the {lendable} that its cohort has: weighted share "
        "{share} with weight {weight}."
    )
    NO_SHARE = "It borrows nothing: weighted share 0."
    FAIR_SHARE = "Fair share {share}: {used} of {whole} {of}."
    SORTED = "Its applications are sorted by {policy} ({by})."
    APPLICATIONS = (
        "{n} application, {waiting} with pods that wait.|"
        "{n} applications, {waiting} with pods that wait."
    )
    FIRST = "Waiting: {names}."
    OF_QUEUE = "{used} used; {limits}."
    MAX = "max {amount}"
    MIN = "min {amount}"
    NO_MAX = "no max of its own"
    GUARANTEED = "guaranteed {amount}"
    PODS = "{n} of at most {of} pods."
    ALLOCATIONS = "{n} pod of YuniKorn's.|{n} pods of YuniKorn's."
    FREE = "{free} free of {of}."
    CORDONED = "It is cordoned: it takes no new pods."
    TAINT = "Taint {taint}: it takes pods that tolerate it."
    SUSPENDED = "It is suspended (spec.suspend), so it has no pods."
    WANTS_NONE = "It asks for no pods: spec.{field} is 0."
    NO_PODS = "It has no pods and no Workload."
    NO_LABEL = (
        "It names no LocalQueue (label kueue.x-k8s.io/queue-name), so Kueue does not hold "
        "it; and there is no node for its pods."
    )
    ALL_OVER = "All its pods have ended."
    NEXT_JOB = "Its next Job is made at {at}."
    NO_NODES = (
        "No node is meant for its pods: none has the labels, or taints keep them away."
    )
    UNTRIED = "not tried yet"
    IN_LINE = "in line, and not tried yet"
    BACKOFF = "in back-off after an eviction"
    NO_QUOTA = "not enough quota is free: {places}"
    NO_NODE = "no node takes the pod: {reasons}"
    IN_NO_LINE = "it is in no queue that is active"
    STARVES = (
        "{queue} uses {used} of its nominal {nominal} in flavor {flavor}, and {n} of its "
        "workloads wait."
    )
    BORROWS = "{queue} borrows {borrowed} in flavor {flavor}, which may be taken back."
    IDLE = (
        "{queue} leaves {idle} of its nominal {nominal} in flavor {flavor} to others."
    )
    OVER = "{queue} uses {used}, {over} more than its guaranteed {guaranteed}."
    UNDER = (
        "{queue} uses {used} of its guaranteed {guaranteed}, and {n} of its applications "
        "have pods that wait."
    )
    SPARE = "{queue} leaves {idle} of its guaranteed {guaranteed} to others."
    ADMITS_NOTHING = "It admits nothing: {why}."
    CUT = "These are the first {n}; there are more: ask for one of them by its name."


class Befell(Words, prefix="befell"):
    """What ended the last run of work."""

    PREEMPTED = "{by} preempted it at {at} ({why})."
    EVICTED = "It was evicted at {at}: {why}"
    FINISHED = "It ended at {at} ({why})."
    STATUS = "Its status says {reason}: {message}"
    TIMES = "That was the last of {n} times."
    GONE = "gone"


class Awaited(Words, prefix="awaited"):
    """What else a Workload waits for: checks, the usage of its LocalQueue, clusters."""

    CHECKS = "Admission checks that are not ready: {checks}."
    CHECK = "{name} ({state})"
    CHECK_SAYS = ("awaited.check.says", "{name} ({state}: {message})")
    CHECK_AT = ("awaited.check.at", "{name} ({state}, answered at {seconds} s)")
    CHECK_SAYS_AT = (
        "awaited.check.saysAt",
        "{name} ({state}: {message}, answered at {seconds} s)",
    )
    USAGE = (
        "Its LocalQueue has usage {used}: number {place} of {of} in its ClusterQueue, "
        "and the least used goes first."
    )
    INFINITE = "infinite"
    RUNS = "Worker cluster {cluster} runs it{words}."
    RESERVED = (
        "Worker cluster {cluster} reserved quota for its copy, which is not admitted "
        "yet{words}."
    )
    PENDING = "Worker cluster {cluster} was asked, and its copy waits{words}."
    LOST = "Worker cluster {cluster} is not reached{since}{words}{until}."
    MISSING = "Worker cluster {cluster} has no MultiKueueCluster."
    ABSENT = (
        "Worker cluster {cluster} has no objects here, so nothing can be dispatched to "
        "it."
    )
    DROPPED = (
        "Worker cluster {cluster} has no copy any more: another cluster admitted it "
        "first."
    )
    TAKEN = (
        "Worker cluster {cluster} was not given a copy: it has a Workload or job of "
        "its own of this name."
    )
    UNASKED = "Worker cluster {cluster} was not asked yet{next}."
    WORDS = ": {words}"
    SINCE = " since {seconds} s"
    UNTIL = "; the workload is taken from it at {seconds} s"
    NEXT = ": the next round is at {seconds} s"


class IfSubmitted(Words, prefix="would"):
    """What would come of work that is submitted now."""

    NOW = "It would start now: {span} after it is submitted."
    LATER = "It would wait, and start {span} after it is submitted."
    AFTER = (
        "It would wait, and start {span} after it is submitted, when {names} has left."
    )
    NOT = "It would wait, and not start within {span}."
    PART = "{n} of its {count} pods would run at once, the last {span} after it is submitted."
    PART_NOT = "{n} of its {count} pods would run at once, and not all within {span}."
    BY_ITSELF = "By itself it starts in {span}, when {names} has left."
    BY_TIME = "By itself it starts in {span}."
    NEVER = "By itself it does not start within {span}."
    VICTIMS = "It would preempt {n}: {names}.|It would preempt {n}: {names}."
    VICTIM = "{name} (priority {priority}, {lost} of its work lost)"
    NOBODY = "Assumed: nobody else submits anything."
    KNOWN = (
        "Assumed: nobody else submits anything but the {n} object that arrives by the "
        "files.|Assumed: nobody else submits anything but the {n} objects that arrive by "
        "the files."
    )
    STATED = "Run times of what runs are those that the files state."
    NO_CHANGE = (
        "No smaller form of it, other queue or higher priority class starts it now."
    )
    NO_HELP = "None of the changes that were tried starts it now."
    CHANGE = "It starts {span} after it is submitted with {change}."
    CHANGE_PREEMPTS = (
        "It starts {span} after it is submitted with {change}, and preempts {names}."
    )
    HELPS = "It would start in {span} with {change}."
    HELPS_PREEMPTS = "It would start in {span} with {change}, and preempt {names}."
    HELPS_IF = "It would start in {span} if {change}."
    HELPS_IF_PREEMPTS = "It would start in {span} and preempt {names} if {change}."
    IN_QUEUE = "queue {queue}"
    TOLERANT = "a toleration of {taint}"
    NO_RULE = "no {field}"
    IN_QUOTA = "ElasticQuota {name} with {limits}"
    IGNORED = "failurePolicy Ignore of webhook {name}"
    UNCORDONED = "node {node} no longer cordoned"
    MOVED = (
        "pod {pod} evicted from {node}, cordoned until it has another node ({lost} of its "
        "work lost)"
    )
    ONE_MORE = "one more node like {node}"
    FEWER = "{field}: {value} in place of {now}"
    MAX = "the max of {queue} at {value} in place of {now}"
    LIMIT = "the limit of {whose} in {queue} at {value} in place of {now}"
    RUNNING = "maxapplications of {queue} at {value} in place of {now}"
    RUNNING_OF = "maxapplications of {whose} in {queue} at {value} in place of {now}"
    BOTH = "{first} and {second}"
    SMALLER = "{part} of what each pod asks: {asked}"
    NO_SELECTOR = "no nodeSelector {labels}"
    URGENT = "{kind} {name} ({value})"
    ELSEWHERE = "LocalQueue {queue}"
