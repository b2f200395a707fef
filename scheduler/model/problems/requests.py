"""Problems of files, traces, experiments and questions that have their own sentence."""

from __future__ import annotations

from scheduler.model.sentence import Stated


class RequestProblem(Stated):
    """What is wrong with what was asked or sent as a whole."""

    VARIANTS = ("problem.variants", "{count} variants are more than {most}")
    RUNS = ("problem.runs", "{count} runs are more than {most}")
    RUN_LIMIT = (
        "problem.runLimit",
        "{count} runs are over the limit of {most}; take fewer variants or seeds, or a shorter horizon",
    )
    HOUR_LIMIT = (
        "problem.hourLimit",
        "{count} runs of {each} h are {hours} h, over the limit of {most} h of virtual time; take fewer variants or seeds, or a shorter horizon",
    )
    NOTHING_TO_CHANGE = (
        "problem.nothingToChange",
        "expected something with more than one value, found nothing to change",
    )
    NO_NODE_OF_FLAVOR = (
        "problem.noNodeOfFlavor",
        "no node of flavor {flavor} has {resource}: quota of it admits work whose pods cannot run; name a flavor whose nodes have it",
    )
    NO_MEASURE_YET = (
        "problem.noMeasureYet",
        "{what}. No work comes between the beginning and the horizon: begin earlier, give work that arrives, or take a longer horizon",
    )
    GRID = ("problem.grid", "a grid needs values, a search may have a range")
    SANDBOX_TICK = ("problem.sandboxTick", "a tick is of a sandbox")
    SANDBOX_WHAT_IF = (
        "problem.sandboxWhatIf",
        "a what-if is of a sandbox and has its tick; leave `tick` out",
    )
    SANDBOX_STACK = (
        "problem.sandboxStack",
        "a sandbox has its stack; leave `stack` out",
    )
    NOWHERE = ("problem.nowhere", "path {path} leads nowhere")
    NO_NODES = ("problem.noNodes", "no Node has the labels {labels}")
    NO_MEASURE = (
        "problem.noMeasure",
        "no run has the measure {name}; there are {known}",
    )
    NO_QUOTA = ("problem.noQuota", "ClusterQueue {name} has no {resource} in {flavor}")
    NO_QUEUE_QUOTA = (
        "problem.noQueueQuota",
        "no ClusterQueue has {resource} in flavor {flavor}",
    )
    TOTAL = ("problem.total", "the queues have more than the total of {total} already")
    STEPS = ("problem.steps", "{count} steps are more than {most}: take a larger step")
    SENTENCE = (
        "problem.sentence",
        "not understood: {given}; expected a sentence like {known}",
    )
    USED_SEEDS = (
        "problem.usedSeeds",
        "expected seeds that the search does not use, got {given} in both",
    )
    BYTES = ("problem.bytes", "over {most} bytes in all; split the import")
    OBJECTS = (
        "problem.objects",
        "{count} objects are over the limit of {most}; split the import",
    )
    BODY = (
        "problem.body",
        "the body is over {most} bytes, more than is taken here; send less",
    )
    OPENED = ("problem.opened", "over {most} bytes when opened")
    OPENED_VALUES = ("problem.openedValues", "over {most} values when opened")
    CUT_OFF = ("problem.cutOff", "the file is cut off")
    DAMAGED = ("problem.damaged", "the file is damaged: {problem}")
    UPDATE = (
        "problem.update",
        "expected format {known}, got {given}; update this program",
    )
    ANOTHER_HASH = (
        "problem.anotherHash",
        "its world is not the one that was exported: the hash differs",
    )
    SUSPECT = (
        "problem.suspect",
        "{given} holds a NUL or half a surrogate pair; leave it out",
    )
    TEXT_SUSPECT = (
        "problem.textSuspect",
        "{given} holds a NUL or half a surrogate pair",
    )
    BASE64 = ("problem.base64", "expected base64: {problem}")
    LARGE = ("problem.large", "expected at most {most} bytes")
    NONE_ENDED = (
        "problem.noneEnded",
        "expected work that ended, found none; give a recording, a trace, or what "
        "`kubectl get workloads,jobs -A -o yaml` prints",
    )
    UTF8 = ("problem.utf8", "expected UTF-8 text: {problem}")
    BEGAN = (
        "problem.began",
        "the sandbox began at {start}; make another one to begin at {given}",
    )
    EDITED = ("problem.edited", "revision {revision}: {edit} ({name})")
    CHOICES = (
        "problem.choices",
        "expected one of {most} choices of stop {stop}, got {given}",
    )
    NO_RIGHT = (
        "problem.noRight",
        "expected which of the {most} choices of stop {stop} is right, got none; mark one",
    )
    NOTHING_LEFT = (
        "problem.nothingLeft",
        "nothing can be taken: without what has errors, nothing is left",
    )
    KINDS = (
        "problem.kinds",
        "cannot convert a {first} world to {given}: expected kueue to yunikorn, or yunikorn to kueue",
    )
    NO_TABLE = ("problem.noTable", "no table {name}; known: {known}")
    NO_PAGE = (
        "problem.noPage",
        "the server could not find the requested resource: {path}; /api/v1/schema lists what there is",
    )
    COMES_AS = ("problem.comesAs", "{name} comes as {first} or {last}")
    WINDOW = (
        "problem.window",
        "the window was not replayed in the time given; give more seconds, or a shorter window",
    )
    NO_END = (
        "problem.noEnd",
        "no future came to its end in the time given; give more time, or a shorter horizon",
    )
    FORECAST_QUEUES = (
        "problem.forecastQueues",
        "no LocalQueue {name} in this world; there are: {known}",
    )
    TOO_MANY_QUEUES = (
        "problem.tooManyQueues",
        "{count} queues are over the limit of {most}; name fewer",
    )
    NO_WORK = (
        "request.noWork",
        "expected work to submit: a job, a Workload or a pod; these objects make none",
    )
    SUBMISSION = (
        "problem.submission",
        "{name} is there already; a forecast of a submission is of work that does not exist yet: give it another name",
    )
    ONE_JOB = (
        "problem.oneJob",
        "expected a manifest of one Workload, or of one job with a queue (label {label}), got {given}",
    )
    WITHOUT_KUEUE = (
        "problem.withoutKueue",
        "stack {stack} runs without Kueue; workloads are forecast",
    )
    EXPLAINED_KUEUE = (
        "problem.explainedKueue",
        "stack {stack} runs without Kueue; workloads and quota are explained under the stack kueue",
    )
    NO_PART = ("problem.noPart", "the stack {stack} has no {kind}")
    ENDED = ("problem.ended", "{key} has ended ({phase}): nothing places it now")
    UNPLACED = ("problem.unplaced", "{key} is placed by no scheduler of this world")
    UNKNOWN_FORMAT = ("problem.unknownFormat", "{file}: not a trace of a known format")
    OPTION = (
        "problem.option",
        "this is an option of the request; give it in the query",
    )
    NO_FILE = ("problem.noFile", "no file {name} beside it; found: {known}")
    NO_COLUMN = ("problem.noColumn", "no column {name}; found: {known}")
    NO_COLUMN_KNOWN = ("problem.noColumnKnown", "no column {name}; known: {known}")
    NO_UNIT = ("problem.noUnit", "no unit {name}; known: {known}")
    NO_TRACE_FIELD = (
        "problem.noTraceField",
        "columns: no field {name}; known: {known}",
    )
    NO_LOCAL_QUEUE = ("problem.noLocalQueue", "no LocalQueue {name}; known: {known}")
    USAGE_LOST = (
        "problem.usageLost",
        "expected {literal}, which is there now, among the ordered values",
    )
    NOT_READ = (
        "problem.notRead",
        "not read: expected a name in {known}, or manifests in it",
    )
    PACKED = ("problem.packed", "packed as {name}: pack it as .zip or .tar.gz")
    GZIP = ("problem.gzip", "expected gzip: it ends before its end")
    ZIP = ("problem.zip", "expected a zip: {problem}")
    STACK_ONLY = (
        "problem.stackOnly",
        "sandbox {name} runs the stack {stack}, not yunikorn",
    )
