"""Problems of fields of manifests and policies that have a sentence of their own."""

from __future__ import annotations

from scheduler.model.sentence import Stated


class Problem(Stated):
    """What is wrong with a field, beyond the forms of `forms.py`."""

    BOTH_READ = (
        "problem.bothRead",
        "{names} would both be read as {known}, which has one strategy; keep one of them",
    )
    SYSTEM_CONSTRAINTS = (
        "problem.systemConstraints",
        "defaultConstraints are given, and defaultingType is System: say List to use them",
    )
    DEFAULT_SELECTOR = (
        "problem.defaultSelector",
        "labelSelector is given; default constraints select by what selects the pod, leave it out",
    )
    WRAPPED = (
        "problem.wrapped",
        "podSets path {path}: expected a pod template there in a component, found nothing",
    )
    SAME_LABEL = (
        "problem.sameLabel",
        "label {label}: expected {literal} as on {other}, got {given}",
    )
    SAME_TOTAL = (
        "problem.sameTotal",
        "annotation {field}: expected {wanted} as on {other}, got {given}",
    )
    VALUES_FOR = ("problem.valuesFor", "expected values for {operator}")
    NO_VALUES_FOR = ("problem.noValuesFor", "expected no values for {operator}")
    RECLAIMABLE_STAYS = (
        "problem.reclaimableStays",
        "expected podset {name} to stay, as its pods were given back and quota is held",
    )
    RECLAIMABLE_LEAST = (
        "problem.reclaimableLeast",
        "expected no less than the {least} pods of {name} already given back while quota is held, got {given}",
    )
    ONE_PARTITION = (
        "problem.onePartition",
        "expected one named {literal}, got {given}: on Kubernetes every node and application belongs to it",
    )
    TASK_GROUPS = (
        "problem.taskGroups",
        "expected a JSON list of task groups with name, minMember and minResource: {problem}",
    )
    LAYERS = (
        "problem.layers",
        "expected JSON: 1 to {most} objects of topology and size",
    )
    WITH_IT = ("problem.withIt", "expected {first} or {last} with it")
    GATES = ("problem.gates", "gates are only taken away once the pod is there")
    USERS = (
        "problem.users",
        "expected users and groups with one blank between, got {given}",
    )
    EXPRESSION = (
        "problem.expression",
        "expected a name or a regular expression, got {given}",
    )
    NAMED_GROUP = (
        "problem.namedGroup",
        "expected a named group before the group '*'",
    )
    TO_MERGE_IN = ("problem.toMergeIn", "expected an object to merge with <<")
    TO_MERGE = ("problem.toMerge", "expected a JSON object to merge")
    REVISION = ("problem.revision", "expected revision.seq, got {given}")
    NEAR_PARAMETER = (
        "problem.nearParameter",
        "unknown parameter; did you mean {near}?",
    )
    SCENARIO = ("problem.scenario", "scenario {name} cannot be read: {problem}")
    RECLAIM = (
        "problem.reclaim",
        "expected Never, as reclaimWithinCohort is Never; set that to Any or LowerPriority first",
    )
    PREFERENCE = (
        "problem.preference",
        "expected no preference unless whenCanBorrow and whenCanPreempt are both TryNextFlavor",
    )
    NO_COHORT = (
        "problem.noCohort",
        "expected no limit without spec.{above}: there is nobody to borrow from or to lend to",
    )
    EXISTS = ("problem.exists", "expected Exists, as the toleration has no key")
    HOSTNAME = ("problem.hostname", "expected {literal} as the last level only")
    COVERED = (
        "problem.covered",
        "expected the covered resources in their order, {known}, got {given}",
    )
    FLAVOR_USED = (
        "problem.flavorUsed",
        "flavor {name} is used already by {other}; one group only",
    )
    COVERED_ALREADY = (
        "problem.coveredAlready",
        "{name} is covered already by {other}; one group only",
    )
    ONE_MIN_COUNT = (
        "problem.oneMinCount",
        "expected one podset with minCount; {name} has it too",
    )
    BUDGET = ("problem.budget", "cannot be given together with minAvailable")
    LEVEL = ("problem.level", "{name} is a level already")
    GATE = (
        "problem.gate",
        "unrecognized feature gate: {name}; Kueue {release} does not start with it",
    )
    GATE_LOCKED = (
        "problem.gateLocked",
        "cannot set feature gate {name} to {given}, feature is locked to {literal} in Kueue {release}",
    )
    CONFIGURATION_VERSION = (
        "problem.configurationVersion",
        "Kueue {release} does not read a Configuration of {given}",
    )
    PODS = (
        "problem.pods",
        "expected no request: the resource pods counts pods by itself",
    )
    TOPOLOGY_LABEL = (
        "problem.topologyLabel",
        "expected at least one label, as the flavor has a topologyName",
    )
    SIZES = (
        "problem.sizes",
        "expected sizes that divide each other, got {first} and {last}",
    )
    OPERATOR = (
        "problem.operator",
        "{name} with {count} values cannot be evaluated; expected In or NotIn with some, Exists or DoesNotExist with none, Gt or Lt with one whole number",
    )
    SECTION = ("problem.section", "the policy section {name} is given twice")
    JOB_TWICE = ("problem.jobTwice", "replicated job {name} is given twice")
    KEY_TWICE = ("problem.keyTwice", "the key {name} is given twice")
    RULE = ("problem.rule", "{name} has a rule already")
    TRANSFORMATION = ("problem.transformation", "{name} has a transformation already")
    EVERY_OPEN = ("problem.everyOpen", "expected both every and open, or neither")
    RUNTIME_CLASS = (
        "problem.runtimeClass",
        "RuntimeClass {name} does not exist; known: {known}",
    )
    LIMIT_RANGE = ("problem.limitRange", "refused by LimitRange {name}: {problem}")
    ABOVE_LIMIT = (
        "problem.aboveLimit",
        "the request {given} of {name} is above the limit {most}, its own or a LimitRange's default",
    )
    NO_WORKLOAD = (
        "problem.noWorkload",
        "{key} {name}: there is no {kind} {other}, so it gets no Workload; known: {known}",
    )
    SAME_SORT = (
        "problem.sameSort",
        "profiles {first} and {last} must use the same queueSort plugin with the same arguments",
    )
    TWO_SCHEDULERS = (
        "problem.twoSchedulers",
        "schedulerName {name} is served by two schedulers",
    )
    PROFILE_TWICE = ("problem.profileTwice", "schedulerName {name} is given twice")
    NO_POINT = ("problem.noPoint", "plugin {name} has nothing to do at this point")
    SHAPE_EMPTY = (
        "problem.shapeEmpty",
        "NodeResourcesFit: requestedToCapacityRatio.shape is empty",
    )
    SHAPE_RISES = (
        "problem.shapeRises",
        "NodeResourcesFit: shape: expected utilization to rise strictly, got {first} before {last}",
    )
    SHAPE_RANGE = (
        "problem.shapeRange",
        "NodeResourcesFit: shape: expected utilization 0 to 100 and score 0 to 10, got {first} and {last}",
    )
    STRATEGIES = ("problem.strategies", "expected {known} or one of them")
    OTHER_THAN = ("problem.otherThan", "{kind} is of {version}, got {given}")
    QUEUE_NAME = (
        "problem.queueName",
        "{name}: expected 1 to 64 of letters, digits, _:#/@-",
    )
    BESIDE64 = ("problem.beside64", "{given} is over 64 bits")
    MIN_NODES = ("problem.minNodes", "expected at most maxNodes ({most}), got {given}")
    BACKOFF = (
        "problem.backoff",
        "expected at least podInitialBackoffSeconds ({least}), got {given}",
    )
    BUDGET_NEEDS = (
        "problem.budgetNeeds",
        "The disruption budget {name} needs its {count} healthy pods",
    )
    ALIAS_LOOP = ("problem.aliasLoop", "an alias that contains itself")
    ALIASES = ("problem.aliases", "refused: aliases repeat too many values")
    AT_START = (
        "problem.atStart",
        "a scheduler reads {name} when it starts, not while a run goes on; edit it at its "
        "tick, or give it as the policy of a what-if",
    )
    QUEUES_ONLY = (
        "problem.queuesOnly",
        "expected what spec.patch.data[queues.yaml] says; leave it out, it is filled in",
    )
    QUEUES_GO = (
        "problem.queuesGo",
        "queues stay when {name} goes while a run goes on; patch its data with the "
        "queues that are to hold",
    )
    NO_PROPOSALS = (
        "problem.noProposals",
        "no policy {name} is here, nor any other; name its file in {variable} before the "
        "start, or install its package",
    )
    PROPOSAL_FAILED = (
        "problem.proposalFailed",
        "the policy {name} fails in {method}: {error}; mend the plug-in, or choose another",
    )
    NO_DOCUMENT = ("problem.noDocument", "expected partitions, got an empty text")
    GENERATED = (
        "problem.generated",
        "{key} stands at {place}: the generator's is left out",
    )
    GENERATED_KIND = (
        "problem.generatedKind",
        "{kind}: one of that name stands elsewhere: the generator's is left out",
    )
    OPERATORS = (
        "problem.operators",
        "expected In, NotIn, Exists, DoesNotExist, Gt or Lt with fitting values, got {given} and {values}",
    )
    FIXED_QUEUE = (
        "problem.fixedQueue",
        "expected {name}: the queue of a LocalQueue is fixed; make another one",
    )
    FIXED_POD = (
        "problem.fixedPod",
        "expected {name}: it is fixed once the pod is there; delete it and make another",
    )
    FIXED_CLASS = (
        "problem.fixedClass",
        "expected {name}: it is fixed; make another class",
    )
    ONCE_THERE = ("problem.onceThere", "fixed once the pod is there; make another one")
    RESERVED = (
        "problem.reserved",
        "fixed while quota is reserved; deactivate or move it first",
    )
    LIMIT = ("problem.limit", "expected at most the limit {most}, got {given}")
    RUNS_QUEUED = (
        "problem.runsQueued",
        "expected {name}: the queue of what runs is fixed; suspend it first",
    )
    COMPLETIONS = ("problem.completions", "expected {name}: it is fixed for a Job")
    PARTIAL = (
        "problem.partial",
        "expected {name}: it is fixed while a Job runs that may be admitted in part; "
        "suspend it first",
    )
    SET_SIZE = (
        "problem.setSize",
        "expected {name} or 0: under Kueue a StatefulSet is scaled to none first",
    )
    SET_SHAPE = (
        "problem.setShape",
        "expected the value that it has: under Kueue the pods of a StatefulSet keep "
        "their shape; make another set",
    )
    LOOP = ("problem.loop", "the cohorts form a loop: {known}; give one another parent")
    NO_OBJECT = (
        "problem.noObject",
        "expected an object with apiVersion and kind, got {given}",
    )
    COLLECTION = (
        "problem.collection",
        "expected a text as key, got a collection",
    )
    BINARY = ("problem.binary", "expected text, got a NUL (a binary file?)")
    REPLACES = ("problem.replaces", "{key} replaces the one at {place}")
    REPLACES_KIND = (
        "problem.replacesKind",
        "{kind}: one replaces another of the same name",
    )
    DOCUMENTS = ("problem.documents", "holds no document; nothing was taken of it")
    DOMAINS = ("problem.domains", "expected {key} for {count} domains")
    ROOT = ("problem.root", "root takes no resources: its max is the sum of its nodes")
    LAST = ("problem.last", "{name} is given after '*', which is the last")
    ALLOWS = ("problem.allows", "{key} {other} is more than {name} allows ({most})")
    JOB_ALONE = (
        "problem.jobAlone",
        "TrainJob {name}: there is no {kind} {other}, so it gets no Workload; give it as well",
    )
    RUNNABLE = (
        "problem.runnable",
        "{name} group has fewer runnable pods than expected",
    )
    OVERHEAD = (
        "problem.overhead",
        "{given} differs from the overhead of the pod's RuntimeClass, {known}; leave it out",
    )
    CONTRADICTS = (
        "problem.contradicts",
        "{given} contradicts the pod's RuntimeClass, which asks for {other}",
    )


class Left(Stated):
    """Why a search for places left a domain of a topology."""

    NOTHING = ("left.nothing", "nothing fits")
    FEW = ("left.few", "{fits} of {count} pods fit")
    ABOVE = ("left.above", "below a domain that was left")
    LATER = ("left.later", "others come first in order, or fit more closely")
    RESOURCE = ("left.resource", 'resource "{name}"')
