"""What an import says of a trace, in words: where its jobs go, what was assumed."""

from __future__ import annotations

from scheduler.model.sentence import Words


class Taken(Words):
    """When the jobs of a trace come, and how large they are."""

    NO_JOB = ("trace.noJob", "holds no job; nothing was taken of it")
    ARRIVE = (
        "trace.arrive",
        "{jobs} jobs arrive at their submit times (the last at {last} s, counted from "
        "{since}) at {pace} pace",
    )
    SINCE_NOW = ("trace.sinceNow", "{start} s, the time now")
    OWN_PACE = ("trace.ownPace", "the trace's own")
    TIMES_PACE = ("trace.timesPace", "{pace} times its own")
    PER_PROCESSOR = ("trace.perProcessor", "{what}, a pod of {cpu} cpu per processor")
    COLUMNS_READ = ("trace.columnsRead", "{what}; columns read: {columns}")
    CHOSEN = (
        "trace.chosen",
        "{what}; another pace, part or queue is chosen when it is imported",
    )
    NO_LIMITS = ("trace.noLimits", "no job has a requested time: none has a limit")
    LIMITS = (
        "trace.limits",
        "{jobs} jobs have their requested time as limit; {over} ran as long or longer "
        "in the trace, and Kueue stops them at it (it counts from admission)",
    )
    ONE_POD = ("trace.onePod", "{jobs} jobs of unknown size are taken as 1 pod")
    NOT_USED = ("trace.notUsed", "not used: {names}")
    NOT_USED_SWF = (
        "trace.notUsedSwf",
        "not used: processor time, preceding job, think time",
    )
    WIDER = (
        "trace.wider",
        "{n} line has more than {columns} columns; those after them are not used|"
        "{n} lines have more than {columns} columns; those after them are not used",
    )
    FIRST_TIME = (
        "trace.firstTime",
        "times count from the first submission in the file",
    )
    ODD = (
        "trace.odd",
        "{count} values of column {column} are no {field}, such as {given}: those jobs "
        "have none",
    )
    GOOGLE = (
        "trace.google",
        "it has no header and 13 columns: read as task events of Google's trace of "
        "2011; amounts are parts of the largest machine, taken as 64 cpu and 256 GiB "
        "(columns: cpu, memory)",
    )
    SHARES = (
        "trace.shares",
        "{pods} pods ask for a part of a GPU: it is counted in {resource} of the node, "
        "not of one device, so parts of several devices may serve a pod",
    )
    PHILLY = (
        "trace.philly",
        "the run time of a job is that of all its attempts together; the trace has "
        "GPUs and machines, no cpu and no memory; each machine is a pod, and the GPUs "
        "are shared out evenly, rounded up",
    )
    NO_GPU = ("trace.noGpu", "jobs that name no GPU ask for nothing: {jobs}")


class Sent(Words):
    """Which LocalQueue the jobs of a trace go to."""

    NO_QUEUE = (
        "trace.noQueue",
        "there is no LocalQueue: the jobs have no queue, their pods come at once",
    )
    QUEUE = ("trace.queue", "the jobs go to LocalQueue {name}")
    FIRST = (
        "trace.firstQueue",
        "the jobs go to LocalQueue {name}, the first of {count}",
    )
    NAMED = (
        "trace.namedQueues",
        "{what}; those of a queue named in the trace to it: {names}",
    )
    MADE = (
        "trace.made",
        "there is no LocalQueue: made ClusterQueue {queue} of {amounts} ({source}) "
        "with LocalQueue {names}",
    )
    MADE_NO_NODE = (
        "trace.madeNoNode",
        "there is no LocalQueue and no Node: made ClusterQueue {queue} of {amounts} "
        "({source}) with LocalQueue {names}",
    )
    OF_NODES = ("trace.ofNodes", "of its Nodes")
    OF_HEADER = ("trace.ofHeader", "MaxProcs of its header")
    OF_RUNNING = ("trace.ofRunning", "the most that ran at one time in the trace")
    OF_LARGEST = ("trace.ofLargest", "its largest job")
    NO_QUOTA = (
        "trace.noQuota",
        "{jobs} jobs ask for {resource}, of which the ClusterQueue of LocalQueue "
        "{queue} has no quota: that request is left out",
    )


class LeftOut(Words):
    """Which lines of a trace are left out, and why."""

    LINE = ("trace.line", "{part} of the trace is left out: {why}")
    LINES = ("trace.lines", "a line of the trace is left out: {why}")
    MOST = (
        "trace.most",
        "from this line on {over} of {jobs} jobs of the trace are left out: `most` is "
        "{most}",
    )
    WINDOW = (
        "trace.window",
        "{over} of {jobs} jobs of the trace are left out: they were not submitted from "
        "{begin} s to {end}, as was asked",
    )
    WINDOW_END = ("trace.windowEnd", "the end")
    WINDOW_SECONDS = ("trace.windowSeconds", "{end} s")
    ALL = ("trace.all", "all")
    JOB = ("trace.job", "job {name}")
    ROW = ("trace.row", "row {name}")
    POD = ("trace.pod", "pod {name}")
    NODE = ("trace.node", "node {name}")
    TASK = ("trace.task", "task {name}")
    NUMBERS = ("trace.numbers", "expected {count} numbers")
    ATTEMPT = (
        "trace.attempt",
        "one attempt of a job (status 2, 3 or 4), its whole has another line",
    )
    SUBMIT_FIELD = ("trace.submitField", "its submit time (field 2) is unknown")
    RUN_FIELD = ("trace.runField", "its run time (field 4) is unknown")
    PROCESSORS = ("trace.processors", "over {most} processors (fields 5 and 8)")
    COLUMNS = ("trace.columns", "another number of columns")
    AMOUNT = ("trace.amount", "an amount is no number")
    SUBMIT_TIME = ("trace.submitTime", "its time of submission is unknown")
    RUN_TIME = ("trace.runTime", "its run time is unknown")
    BACKWARDS = ("trace.backwards", "its end is before its begin")
    PODS = ("trace.pods", "over {most} pods")
    NO_COLUMN = (
        "trace.noColumn",
        "no column gives {fields}; say which by columns, e.g. submit=COLUMN; found: "
        "{found}",
    )
    SUBMIT_OR_START = ("trace.submitOrStart", "submit or start")
    RUN_OR_END = ("trace.runOrEnd", "run or end or event")
    NOR = ("trace.nor", "{first}, nor {last}")
    NO_EVENT = ("trace.noEvent", "a task without a {event} event")
    UNKNOWN = ("trace.unknown", "its {field} is unknown")
    NEVER_SCHEDULED = (
        "trace.neverScheduled",
        "it was never scheduled, so its run time is unknown",
    )
    OPENB_POD = ("trace.openbPod", "its cpu_milli, memory_mib or num_gpu is no number")
    OPENB_NODE = (
        "trace.openbNode",
        "expected a name and three numbers: cpu_milli, memory_mib, gpu",
    )
    NO_ATTEMPT = (
        "trace.noAttempt",
        "it has no attempt, so its size and run time are unknown",
    )
    OPEN_ATTEMPT = (
        "trace.openAttempt",
        "an attempt has no start or no end, so its run time is unknown",
    )
