"""Why a Workload waits, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words


class Why(Words):
    """What an admission cycle decides about a Workload, and where it stands in line."""

    NOT_TRIED = ("why.notTried", "It is not tried for admission: {why}.")
    ADMITTED = (
        "why.admitted",
        "Tried now as the head of its queue, it would be admitted.",
    )
    PREEMPTS = (
        "why.preempts",
        "Tried now as the head of its queue, it would preempt {names}.",
    )
    SKIPPED = ("why.skipped", "Tried now, {message}.")
    WAITS = ("why.waits", "Tried now as the head of its queue, it would wait.")
    WAITS_AS = (
        "why.waitsAs",
        "Tried now as the head of its queue, it would wait: {reason}.",
    )
    MISCONFIGURED = (
        "why.misconfigured",
        "It is not admitted, whatever quota is free: {message}.",
    )
    NOT_FOR_QUOTA = (
        "why.notForQuota",
        "It does not wait for quota: it is tried again when what is named is changed.",
    )
    NOT_BEFORE = ("why.notBefore", "It is not tried again before {seconds} s.")
    SET_ASIDE = ("why.setAside", "It is set aside until quota is released in its tree.")
    STRICT = (
        "why.strict",
        "It is {place} of {of} in its ClusterQueue: StrictFIFO tries nobody before "
        "{head} is admitted.",
    )
    BEHIND = ("why.behind", "It is {place} of {of} in its ClusterQueue, behind {name}.")
    HEAD = ("why.theHead", "the head")
    REPLACES = (
        "why.replaces",
        "It is to replace {name}, whose job grows: only what it asks beyond that "
        "one's quota counts, on the same flavors.",
    )
    GROWS = ("why.grows", "Its job grows: {name} waits to take over its quota.")
    VARIANT_OF = (
        "why.variantOf",
        "It is the variant of {name} for flavor {flavor}, which runs as the first of "
        "its variants that is admitted.",
    )
    VARIANT = ("why.variant", "Variant {name} for flavor {flavor}: {state}.")
    VARIANT_INACTIVE = ("why.variant.inactive", "it is not active")
    VARIANT_ADMITTED = ("why.variant.admitted", "it is admitted")
    VARIANT_UNTRIED = ("why.variant.untried", "it was not tried yet")


class NotTried(Words):
    """Why a Workload is not tried for admission."""

    FUTURE = ("notTried.future", "it has not arrived yet")
    FINISHED = ("notTried.finished", "it ran to its end")
    NO_QUEUE = (
        "notTried.noQueue",
        "its LocalQueue {queue} leads to ClusterQueue {name}, which is not here",
    )
    NO_LOCAL_QUEUE = (
        "notTried.noLocalQueue",
        "there is no LocalQueue {queue} in namespace {namespace}",
    )
    HOLDS_QUOTA = ("notTried.holdsQuota", "it holds quota")
    INACTIVE = ("notTried.inactive", "it is not active")
    KEPT_OUT = (
        "notTried.keptOut",
        "Kueue deactivated it ({reason}), and to make it active again does not let it "
        "queue; only a new Workload gets quota",
    )
    OVERTIME = (
        "notTried.overtime",
        "Kueue deactivated it ({reason}) and deactivates it again when it is made "
        "active; only a new Workload gets quota",
    )
    GATED = ("notTried.gated", "it is gated")
    VARIANTS = (
        "notTried.variants",
        "its variants are tried in its place, one for each flavor",
    )
    STOPPED = ("notTried.stopped", "stopPolicy of {kind} {queue} is {value}")
    CLUSTER_QUEUE = (
        "notTried.clusterQueue",
        "ClusterQueue {queue} is not active: {message}",
    )


class Short(Words):
    """What is short of quota or of places, and why nobody goes for it."""

    BARRED = ("short.barred", "Flavor {flavor} cannot run its pods: {reason}.")
    SELECTOR = (
        "short.selector",
        "Its nodeSelector asks for {asked}; nodeLabels of flavor {flavor}: {given}.",
    )
    UNCOVERED = (
        "short.uncovered",
        "{asked} asked, and its ClusterQueue has no quota of {resource}.",
    )
    SHORT = (
        "short.short",
        "Flavor {flavor}: {asked} asked, {free} free; short by {short}.",
    )
    NEVER = (
        "short.never",
        "Flavor {flavor}: {asked} asked, {free} free, and no more than {most} could "
        "ever be; short by {short}.",
    )
    BORROWING = (
        "short.borrowing",
        "Its cohort has more that is free: borrowingLimit of {queue} is {limit}.",
    )
    LENDING = (
        "short.lending",
        "{queue} has {kept} free that it does not lend: its lendingLimit is {limit}.",
    )
    PLACES = ("short.places", "{podSet} has places in flavor {flavor} {where}.")
    NO_PLACES = ("short.noPlaces", "{podSet}: {reason}.")
    NO_DOMAIN = (
        "short.noDomain",
        "No domain of {level} takes the {needed} pods of {podSet} {where}: the "
        "roomiest has places for {best}.",
    )
    EMPTY = ("short.empty", "with nobody else there")
    NOW = ("short.now", "as things are now")
    NOBODY_GOES = (
        "short.nobodyGoes",
        "Preemption: {n} workload holds what is needed, and it may not go.|"
        "Preemption: {n} workloads hold what is needed, and none of them may go.",
    )
    COST = (
        "short.cost",
        "Cost of the search for victims: candidates examined {looked}, "
        "simulations {simulations}.|"
        "Cost of {n} searches for victims: candidates examined {looked}, "
        "simulations {simulations}.",
    )
    ALL_REFUSED = (
        "short.allRefused",
        "Preemption: {n} candidate looked at, all refused.|"
        "Preemption: {n} candidates looked at, all refused.",
    )
    NOT_ENOUGH = (
        "short.notEnough",
        "Preemption: {n} candidate looked at; all who may go are not enough.|"
        "Preemption: {n} candidates looked at; all who may go are not enough.",
    )
    NO_BORROWING = (
        "short.noBorrowing",
        "Preemption is not tried in flavor {flavor}: {asked} is more than its nominal "
        "quota of {nominal}, and it may not preempt to borrow (borrowWithinCohort of "
        "{queue} is Never).",
    )


class Gate(Words):
    """The field that keeps a Workload from preempting who holds what it needs."""

    WITHIN_NEVER = (
        "gate.withinNever",
        "{n} workload of its own queue holds it, and withinClusterQueue of {queue} is "
        "Never.|{n} workloads of its own queue hold it, and withinClusterQueue of {queue} "
        "is Never.",
    )
    WITHIN_PRIORITY = (
        "gate.withinPriority",
        "{n} workload of its own queue holds it, and it may not go: withinClusterQueue of "
        "{queue} is {policy}, and the priority of the preemptor is {priority}.|"
        "{n} workloads of its own queue hold it, and none may go: withinClusterQueue of "
        "{queue} is {policy}, and the priority of the preemptor is {priority}.",
    )
    RECLAIM_NEVER = (
        "gate.reclaimNever",
        "{n} workload of other queues holds it, and reclaimWithinCohort of {queue} is "
        "Never.|{n} workloads of other queues hold it, and reclaimWithinCohort of {queue} "
        "is Never.",
    )
    RECLAIM_PRIORITY = (
        "gate.reclaimPriority",
        "{n} workload of {holder} holds it, and it may not go: reclaimWithinCohort of "
        "{queue} is {policy}, and the priority of the preemptor is {priority}.|"
        "{n} workloads of {holder} hold it, and none may go: reclaimWithinCohort of "
        "{queue} is {policy}, and the priority of the preemptor is {priority}.",
    )
    WITHIN_NOMINAL = (
        "gate.withinNominal",
        "{n} workload of {holder} holds it within the nominal quota of {holder}, which "
        "nobody takes back.|{n} workloads of {holder} hold it within the nominal quota of "
        "{holder}, which nobody takes back.",
    )
    BORROW_NEVER = (
        "gate.borrowNever",
        "To borrow, {queue} may preempt nobody of another queue: borrowWithinCohort is "
        "Never.",
    )
    BORROW_PRIORITY = (
        "gate.borrowPriority",
        "{name} has priority {priority}, and may not go while {queue} borrows: "
        "borrowWithinCohort is LowerPriority, and the preemptor has {below}.",
    )
    THRESHOLD = (
        "gate.threshold",
        "{name} has priority {priority}, and may not go while {queue} borrows: "
        "borrowWithinCohort.maxPriorityThreshold of {queue} is {value}.",
    )
    SHARE = (
        "gate.share",
        "{name} of {holder} may not go under fair sharing: by {rule} the share of {queue} "
        "would be {ours}, and that of {holder} is {theirs}.",
    )


class Unplaced(Words):
    """Pods of what was admitted, or of nobody, that have no node."""

    NONE_YET = ("unplaced.noneYet", "Its pods are not made yet.")
    SOME = (
        "unplaced.some",
        "{n} of its {of} pods is on no node. {pod}: {message}|"
        "{n} of its {of} pods are on no node. {pod}: {message}",
    )
    NOT_TRIED = ("unplaced.notTried", "it was not tried yet.")
    NO_NODE = (
        "unplaced.noNode",
        "Its nodeName is {node}, and there is no node {node}: nothing starts it.",
    )
    TOGETHER = (
        "unplaced.together",
        "Its gang needs {of} places at once, and {n} of its pods fit now; {pod} does not:",
    )
    ALL_TOGETHER = (
        "unplaced.allTogether",
        "Its gang needs {of} places at once, and {n} of its pods fit now: it waits to be "
        "tried again.",
    )
    SOME_TOGETHER = (
        "unplaced.someTogether",
        "Its gang needs {of} places at once; the first {n} of its pods fit now, and no more "
        "were looked at.",
    )
    RESERVING = (
        "unplaced.reserving",
        "Its application takes all places of its gang first, and has {n} of {of}.",
    )
    REFUSED = ("unplaced.refused", "{n} node: {why}|{n} nodes: {why}")
    FRAGMENTED = (
        "unplaced.fragmented",
        "Free: {free} on {nodes} nodes together, at most {most} on one; a pod that asks "
        "for {asked} fits on none.",
    )


class Asked(Words):
    """Answers about queues, nodes, groups of pods, and about all that waits."""

    ON_NODE = ("asked.onNode", "on {node}")
    ON_NONE = ("asked.onNone", "on no node")
    ALL_PLACED = (
        "asked.allPlaced",
        "Its {n} pod has a node.|All {n} pods have a node.",
    )
    SOME_WAIT = (
        "asked.someWait",
        "{n} of {of} pods is on no node; of {pod}:|"
        "{n} of {of} pods are on no node; of the first, {pod}:",
    )
    LINE = ("asked.line", "{waiting} wait for quota, {held} hold it.")
    CAUSE = ("asked.cause", "{n} waits: {why}|{n} wait: {why}")
    USED = ("asked.used", "Flavor {flavor}: {used} used, nominal quota {nominal}.")
    OF_TREE = (
        "asked.ofTree",
        "Flavor {flavor}: {quota} is the quota of it and of all below it together.",
    )
    SHARE = (
        "asked.share",
        "It borrows {borrowed} of the {lendable} that its cohort has: weighted share "
        "{share} with weight {weight}.",
    )
    NO_SHARE = ("asked.noShare", "It borrows nothing: weighted share 0.")
    FAIR_SHARE = ("asked.fairShare", "Fair share {share}: {used} of {whole} {of}.")
    SORTED = ("asked.sorted", "Its applications are sorted by {policy} ({by}).")
    APPLICATIONS = (
        "asked.applications",
        "{n} application, {waiting} with pods that wait.|"
        "{n} applications, {waiting} with pods that wait.",
    )
    FIRST = ("asked.first", "Waiting: {names}.")
    OF_QUEUE = ("asked.ofQueue", "{used} used; {limits}.")
    MAX = ("asked.max", "max {amount}")
    MIN = ("asked.min", "min {amount}")
    NO_MAX = ("asked.noMax", "no max of its own")
    GUARANTEED = ("asked.guaranteed", "guaranteed {amount}")
    PODS = ("asked.pods", "{n} of at most {of} pods.")
    ALLOCATIONS = (
        "asked.allocations",
        "{n} pod of YuniKorn's.|{n} pods of YuniKorn's.",
    )
    FREE = ("asked.free", "{free} free of {of}.")
    CORDONED = ("asked.cordoned", "It is cordoned: it takes no new pods.")
    TAINT = ("asked.taint", "Taint {taint}: it takes pods that tolerate it.")
    UNTRIED = ("asked.untried", "not tried yet")
    IN_LINE = ("asked.inLine", "in line, and not tried yet")
    BACKOFF = ("asked.backoff", "in back-off after an eviction")
    NO_QUOTA = ("asked.noQuota", "not enough quota is free: {places}")
    NO_NODE = ("asked.noNode", "no node takes the pod: {reasons}")
    IN_NO_LINE = ("asked.inNoLine", "it is in no queue that is active")


class Befell(Words):
    """What ended the last run of work."""

    PREEMPTED = ("befell.preempted", "{by} preempted it at {at} ({why}).")
    EVICTED = ("befell.evicted", "It was evicted at {at}: {why}")
    FINISHED = ("befell.finished", "It ended at {at} ({why}).")
    TIMES = ("befell.times", "That was the last of {n} times.")
    GONE = ("befell.gone", "gone")


class Awaited(Words):
    """What else a Workload waits for: checks, the usage of its LocalQueue, clusters."""

    CHECKS = ("awaited.checks", "Admission checks that are not ready: {checks}.")
    CHECK = ("awaited.check", "{name} ({state})")
    CHECK_SAYS = ("awaited.check.says", "{name} ({state}: {message})")
    CHECK_AT = ("awaited.check.at", "{name} ({state}, answered at {seconds} s)")
    CHECK_SAYS_AT = (
        "awaited.check.saysAt",
        "{name} ({state}: {message}, answered at {seconds} s)",
    )
    USAGE = (
        "awaited.usage",
        "Its LocalQueue has usage {used}: number {place} of {of} in its ClusterQueue, "
        "and the least used goes first.",
    )
    INFINITE = ("awaited.infinite", "infinite")
    RUNS = ("awaited.runs", "Worker cluster {cluster} runs it{words}.")
    RESERVED = (
        "awaited.reserved",
        "Worker cluster {cluster} reserved quota for its copy, which is not admitted "
        "yet{words}.",
    )
    PENDING = (
        "awaited.pending",
        "Worker cluster {cluster} was asked, and its copy waits{words}.",
    )
    LOST = (
        "awaited.lost",
        "Worker cluster {cluster} is not reached{since}{words}{until}.",
    )
    MISSING = ("awaited.missing", "Worker cluster {cluster} has no MultiKueueCluster.")
    ABSENT = (
        "awaited.absent",
        "Worker cluster {cluster} has no objects here, so nothing can be dispatched to "
        "it.",
    )
    DROPPED = (
        "awaited.dropped",
        "Worker cluster {cluster} has no copy any more: another cluster admitted it "
        "first.",
    )
    TAKEN = (
        "awaited.taken",
        "Worker cluster {cluster} was not given a copy: it has a Workload or job of "
        "its own of this name.",
    )
    UNASKED = ("awaited.unasked", "Worker cluster {cluster} was not asked yet{next}.")
    WORDS = ("awaited.words", ": {words}")
    SINCE = ("awaited.since", " since {seconds} s")
    UNTIL = ("awaited.until", "; the workload is taken from it at {seconds} s")
    NEXT = ("awaited.next", ": the next round is at {seconds} s")


class IfSubmitted(Words):
    """What would come of work that is submitted now."""

    NOW = ("would.now", "It would start now: {span} after it is submitted.")
    LATER = ("would.later", "It would wait, and start {span} after it is submitted.")
    AFTER = (
        "would.after",
        "It would wait, and start {span} after it is submitted, when {names} has left.",
    )
    NOT = ("would.not", "It would wait, and not start within {span}.")
    BY_ITSELF = (
        "would.byItself",
        "By itself it starts in {span}, when {names} has left.",
    )
    BY_TIME = ("would.byTime", "By itself it starts in {span}.")
    NEVER = ("would.never", "By itself it does not start within {span}.")
    VICTIMS = (
        "would.victims",
        "It would preempt {n}: {names}.|It would preempt {n}: {names}.",
    )
    VICTIM = ("would.victim", "{name} (priority {priority}, {lost} of its work lost)")
    NOBODY = ("would.nobody", "Assumed: nobody else submits anything.")
    KNOWN = (
        "would.known",
        "Assumed: nobody else submits anything but the {n} object that arrives by the "
        "files.|Assumed: nobody else submits anything but the {n} objects that arrive by "
        "the files.",
    )
    STATED = ("would.stated", "Run times of what runs are those that the files state.")
    NO_CHANGE = (
        "would.noChange",
        "No smaller form of it, other queue or higher priority class starts it now.",
    )
    NO_HELP = ("would.noHelp", "None of the changes that were tried starts it now.")
    CHANGE = ("would.change", "It starts {span} after it is submitted with {change}.")
    CHANGE_PREEMPTS = (
        "would.changePreempts",
        "It starts {span} after it is submitted with {change}, and preempts {names}.",
    )
    HELPS = ("would.helps", "It would start in {span} with {change}.")
    HELPS_PREEMPTS = (
        "would.helpsPreempts",
        "It would start in {span} with {change}, and preempt {names}.",
    )
    HELPS_IF = ("would.helpsIf", "It would start in {span} if {change}.")
    HELPS_IF_PREEMPTS = (
        "would.helpsIfPreempts",
        "It would start in {span} and preempt {names} if {change}.",
    )
    IN_QUEUE = ("would.inQueue", "queue {queue}")
    TOLERANT = ("would.tolerant", "a toleration of {taint}")
    NO_RULE = ("would.noRule", "no {field}")
    IN_QUOTA = ("would.inQuota", "ElasticQuota {name} with {limits}")
    UNCORDONED = ("would.uncordoned", "node {node} no longer cordoned")
    MOVED = (
        "would.moved",
        "pod {pod} evicted from {node}, cordoned until it has another node ({lost} of its "
        "work lost)",
    )
    ONE_MORE = ("would.oneMore", "one more node like {node}")
    FEWER = ("would.fewer", "{field}: {value} in place of {now}")
    SMALLER = ("would.smaller", "{part} of what each pod asks: {asked}")
    NO_SELECTOR = ("would.noSelector", "no nodeSelector {labels}")
    URGENT = ("would.urgent", "{kind} {name} ({value})")
    ELSEWHERE = ("would.elsewhere", "LocalQueue {queue}")
