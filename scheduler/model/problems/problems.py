"""Problems of fields of manifests and policies that have a sentence of their own."""

from __future__ import annotations

from scheduler.model.sentence import Stated


class Problem(Stated, prefix="problem"):
    """What is wrong with a field, beyond the forms of `forms.py`."""

    BOTH_READ = "{names} would both be read as {known}, which has one strategy; keep one of them"
    SYSTEM_CONSTRAINTS = "defaultConstraints are given, and defaultingType is System: say List to use them"
    DEFAULT_SELECTOR = "labelSelector is given; default constraints select by what selects the pod, leave it out"
    WRAPPED = "podSets path {path}: expected a pod template there in a component, found nothing"
    SAME_LABEL = "label {label}: expected {literal} as on {other}, got {given}"
    SAME_TOTAL = "annotation {field}: expected {wanted} as on {other}, got {given}"
    VALUES_FOR = "expected values for {operator}"
    NO_VALUES_FOR = "expected no values for {operator}"
    RECLAIMABLE_STAYS = (
        "expected podset {name} to stay, as its pods were given back and quota is held"
    )
    RECLAIMABLE_LEAST = "expected no less than the {least} pods of {name} already given back while quota is held, got {given}"
    ONE_PARTITION = "expected one named {literal}, got {given}: on Kubernetes every node and application belongs to it"
    TASK_GROUPS = "expected a JSON list of task groups with name, minMember and minResource: {problem}"
    LAYERS = "expected JSON: 1 to {most} objects of topology and size"
    WITH_IT = "expected {first} or {last} with it"
    GATES = "gates are only taken away once the pod is there"
    USERS = "expected users and groups with one blank between, got {given}"
    EXPRESSION = "expected a name or a regular expression, got {given}"
    NAMED_GROUP = "expected a named group before the group '*'"
    TO_MERGE_IN = "expected an object to merge with <<"
    TO_MERGE = "expected a JSON object to merge"
    REVISION = "expected revision.seq, got {given}"
    NEAR_PARAMETER = "unknown parameter; did you mean {near}?"
    SCENARIO = "scenario {name} cannot be read: {problem}"
    RECLAIM = "expected Never, as reclaimWithinCohort is Never; set that to Any or LowerPriority first"
    PREFERENCE = "expected no preference unless whenCanBorrow and whenCanPreempt are both TryNextFlavor"
    NO_COHORT = "expected no limit without spec.{above}: there is nobody to borrow from or to lend to"
    EXISTS = "expected Exists, as the toleration has no key"
    HOSTNAME = "expected {literal} as the last level only"
    COVERED = "expected the covered resources in their order, {known}, got {given}"
    FLAVOR_USED = "flavor {name} is used already by {other}; one group only"
    COVERED_ALREADY = "{name} is covered already by {other}; one group only"
    ONE_MIN_COUNT = "expected one podset with minCount; {name} has it too"
    BUDGET = "cannot be given together with minAvailable"
    LEVEL = "{name} is a level already"
    GATE = "unrecognized feature gate: {name}; Kueue {release} does not start with it"
    GATE_LOCKED = "cannot set feature gate {name} to {given}, feature is locked to {literal} in Kueue {release}"
    CONFIGURATION_VERSION = "Kueue {release} does not read a Configuration of {given}"
    PODS = "expected no request: the resource pods counts pods by itself"
    TOPOLOGY_LABEL = "expected at least one label, as the flavor has a topologyName"
    SIZES = "expected sizes that divide each other, got {first} and {last}"
    OPERATOR = "{name} with {count} values cannot be evaluated; expected In or NotIn with some, Exists or DoesNotExist with none, Gt or Lt with one whole number"
    SECTION = "the policy section {name} is given twice"
    JOB_TWICE = "replicated job {name} is given twice"
    KEY_TWICE = "the key {name} is given twice"
    RULE = "{name} has a rule already"
    TRANSFORMATION = "{name} has a transformation already"
    EVERY_OPEN = "expected both every and open, or neither"
    RUNTIME_CLASS = "RuntimeClass {name} does not exist; known: {known}"
    LIMIT_RANGE = "refused by LimitRange {name}: {problem}"
    ABOVE_LIMIT = "the request {given} of {name} is above the limit {most}, its own or a LimitRange's default"
    NO_WORKLOAD = "{key} {name}: there is no {kind} {other}, so it gets no Workload; known: {known}"
    SAME_SORT = "profiles {first} and {last} must use the same queueSort plugin with the same arguments"
    TWO_SCHEDULERS = "schedulerName {name} is served by two schedulers"
    PROFILE_TWICE = "schedulerName {name} is given twice"
    NO_POINT = "plugin {name} has nothing to do at this point"
    SHAPE_EMPTY = "NodeResourcesFit: requestedToCapacityRatio.shape is empty"
    SHAPE_RISES = "NodeResourcesFit: shape: expected utilization to rise strictly, got {first} before {last}"
    SHAPE_RANGE = "NodeResourcesFit: shape: expected utilization 0 to 100 and score 0 to 10, got {first} and {last}"
    STRATEGIES = "expected {known} or one of them"
    OTHER_THAN = "{kind} is of {version}, got {given}"
    QUEUE_NAME = "{name}: expected 1 to 64 of letters, digits, _:#/@-"
    BESIDE64 = "{given} is over 64 bits"
    MIN_NODES = "expected at most maxNodes ({most}), got {given}"
    BACKOFF = "expected at least podInitialBackoffSeconds ({least}), got {given}"
    BUDGET_NEEDS = "The disruption budget {name} needs its {count} healthy pods"
    ALIAS_LOOP = "an alias that contains itself"
    ALIASES = "refused: aliases repeat too many values"
    AT_START = (
        "a scheduler reads {name} when it starts, not while a run goes on; edit it at its "
        "tick, or give it as the policy of a what-if"
    )
    QUEUES_ONLY = (
        "expected what spec.patch.data[queues.yaml] says; leave it out, it is filled in"
    )
    QUEUES_GO = (
        "queues stay when {name} goes while a run goes on; patch its data with the "
        "queues that are to hold"
    )
    NO_PROPOSALS = (
        "no policy {name} is here, nor any other; name its file in {variable} before the "
        "start, or install its package"
    )
    PROPOSAL_FAILED = "the policy {name} fails in {method}: {error}; mend the plug-in, or choose another"
    NO_DOCUMENT = "expected partitions, got an empty text"
    GENERATED = "{key} stands at {place}: the generator's is left out"
    GENERATED_KIND = (
        "{kind}: one of that name stands elsewhere: the generator's is left out"
    )
    OPERATORS = "expected In, NotIn, Exists, DoesNotExist, Gt or Lt with fitting values, got {given} and {values}"
    FIXED_QUEUE = (
        "expected {name}: the queue of a LocalQueue is fixed; make another one"
    )
    FIXED_POD = (
        "expected {name}: it is fixed once the pod is there; delete it and make another"
    )
    FIXED_CLASS = "expected {name}: it is fixed; make another class"
    ONCE_THERE = "fixed once the pod is there; make another one"
    RESERVED = "fixed while quota is reserved; deactivate or move it first"
    LIMIT = "expected at most the limit {most}, got {given}"
    RUNS_QUEUED = "expected {name}: the queue of what runs is fixed; suspend it first"
    COMPLETIONS = "expected {name}: it is fixed for a Job"
    PARTIAL = (
        "expected {name}: it is fixed while a Job runs that may be admitted in part; "
        "suspend it first"
    )
    SET_SIZE = "expected {name} or 0: under Kueue a StatefulSet is scaled to none first"
    SET_SHAPE = (
        "expected the value that it has: under Kueue the pods of a StatefulSet keep "
        "their shape; make another set"
    )
    LOOP = "the cohorts form a loop: {known}; give one another parent"
    NO_OBJECT = "expected an object with apiVersion and kind, got {given}"
    COLLECTION = "expected a text as key, got a collection"
    BINARY = "expected text, got a NUL (a binary file?)"
    REPLACES = "{key} replaces the one at {place}"
    REPLACES_KIND = "{kind}: one replaces another of the same name"
    DOCUMENTS = "holds no document; nothing was taken of it"
    DOMAINS = "expected {key} for {count} domains"
    ROOT = "root takes no resources: its max is the sum of its nodes"
    LAST = "{name} is given after '*', which is the last"
    ALLOWS = "{key} {other} is more than {name} allows ({most})"
    JOB_ALONE = "TrainJob {name}: there is no {kind} {other}, so it gets no Workload; give it as well"
    RUNNABLE = "{name} group has fewer runnable pods than expected"
    OVERHEAD = "{given} differs from the overhead of the pod's RuntimeClass, {known}; leave it out"
    GATED_NODE = (
        "{given} of a pod of a queue: the API server takes none while the pod has "
        "scheduling gates, which Kueue gives it; expected a nodeSelector"
    )
    CONTRADICTS = "{given} contradicts the pod's RuntimeClass, which asks for {other}"


class Left(Stated, prefix="left"):
    """Why a search for places left a domain of a topology."""

    NOTHING = "nothing fits"
    FEW = "{fits} of {count} pods fit"
    ABOVE = "below a domain that was left"
    LATER = "others come first in order, or fit more closely"
    RESOURCE = 'resource "{name}"'
