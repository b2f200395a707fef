"""What an import says of a trace, in words: where its jobs go, what was assumed."""

from __future__ import annotations

from scheduler.model.sentence import Words


class Taken(Words, prefix="trace"):
    """When the jobs of a trace come, and how large they are."""

    NO_JOB = "holds no job; nothing was taken of it"
    ARRIVE = (
        "{jobs} jobs arrive at their submit times (the last at {last} s, counted from "
        "{since}) at {pace} pace"
    )
    SINCE_NOW = "{start} s, the time now"
    OWN_PACE = "the trace's own"
    TIMES_PACE = "{pace} times its own"
    PER_PROCESSOR = "{what}, a pod of {cpu} cpu per processor"
    COLUMNS_READ = "{what}; columns read: {columns}"
    CHOSEN = "{what}; another pace, part or queue is chosen when it is imported"
    NO_LIMITS = "no job has a requested time: none has a limit"
    LIMITS = (
        "{jobs} jobs have their requested time as limit; {over} ran as long or longer "
        "in the trace, and Kueue stops them at it (it counts from admission)"
    )
    ONE_POD = "{jobs} jobs of unknown size are taken as 1 pod"
    NOT_USED = "not used: {names}"
    NOT_USED_SWF = "not used: processor time, preceding job, think time"
    WIDER = (
        "{n} line has more than {columns} columns; those after them are not used|"
        "{n} lines have more than {columns} columns; those after them are not used"
    )
    FIRST_TIME = "times count from the first submission in the file"
    ODD = (
        "{count} values of column {column} are no {field}, such as {given}: those jobs "
        "have none"
    )
    GOOGLE = (
        "it has no header and 13 columns: read as task events of Google's trace of "
        "2011; amounts are parts of the largest machine, taken as 64 cpu and 256 GiB "
        "(columns: cpu, memory)"
    )
    SHARES = (
        "{pods} pods ask for a part of a GPU: it is counted in {resource} of the node, "
        "not of one device, so parts of several devices may serve a pod"
    )
    PHILLY = (
        "the run time of a job is that of all its attempts together; the trace has "
        "GPUs and machines, no cpu and no memory; each machine is a pod, and the GPUs "
        "are shared out evenly, rounded up"
    )
    NO_GPU = "jobs that name no GPU ask for nothing: {jobs}"


class Sent(Words, prefix="trace"):
    """Which LocalQueue the jobs of a trace go to."""

    NO_QUEUE = "there is no LocalQueue: the jobs have no queue, their pods come at once"
    QUEUE = "the jobs go to LocalQueue {name}"
    FIRST = (
        "trace.firstQueue",
        "the jobs go to LocalQueue {name}, the first of {count}",
    )
    NAMED = (
        "trace.namedQueues",
        "{what}; those of a queue named in the trace to it: {names}",
    )
    MADE = (
        "there is no LocalQueue: made ClusterQueue {queue} of {amounts} ({source}) "
        "with LocalQueue {names}"
    )
    MADE_NO_NODE = (
        "there is no LocalQueue and no Node: made ClusterQueue {queue} of {amounts} "
        "({source}) with LocalQueue {names}"
    )
    OF_NODES = "of its Nodes"
    OF_HEADER = "MaxProcs of its header"
    OF_RUNNING = "the most that ran at one time in the trace"
    OF_LARGEST = "its largest job"
    NO_QUOTA = (
        "{jobs} jobs ask for {resource}, of which the ClusterQueue of LocalQueue "
        "{queue} has no quota: that request is left out"
    )


class LeftOut(Words, prefix="trace"):
    """Which lines of a trace are left out, and why."""

    LINE = "{part} of the trace is left out: {why}"
    LINES = "a line of the trace is left out: {why}"
    MOST = (
        "from this line on {over} of {jobs} jobs of the trace are left out: `most` is "
        "{most}"
    )
    WINDOW = (
        "{over} of {jobs} jobs of the trace are left out: they were not submitted from "
        "{begin} s to {end}, as was asked"
    )
    WINDOW_END = "the end"
    WINDOW_SECONDS = "{end} s"
    ALL = "all"
    JOB = "job {name}"
    ROW = "row {name}"
    POD = "pod {name}"
    NODE = "node {name}"
    TASK = "task {name}"
    NUMBERS = "expected {count} numbers"
    ATTEMPT = "one attempt of a job (status 2, 3 or 4), its whole has another line"
    SUBMIT_FIELD = "its submit time (field 2) is unknown"
    RUN_FIELD = "its run time (field 4) is unknown"
    PROCESSORS = "over {most} processors (fields 5 and 8)"
    COLUMNS = "another number of columns"
    AMOUNT = "an amount is no number"
    SUBMIT_TIME = "its time of submission is unknown"
    RUN_TIME = "its run time is unknown"
    BACKWARDS = "its end is before its begin"
    PODS = "over {most} pods"
    NO_COLUMN = (
        "no column gives {fields}; say which by columns, e.g. submit=COLUMN; found: "
        "{found}"
    )
    SUBMIT_OR_START = "submit or start"
    RUN_OR_END = "run or end or event"
    NOR = "{first}, nor {last}"
    NO_EVENT = "a task without a {event} event"
    UNKNOWN = "its {field} is unknown"
    NEVER_SCHEDULED = "it was never scheduled, so its run time is unknown"
    OPENB_POD = "its cpu_milli, memory_mib or num_gpu is no number"
    OPENB_NODE = "expected a name and three numbers: cpu_milli, memory_mib, gpu"
    NO_ATTEMPT = "it has no attempt, so its size and run time are unknown"
    OPEN_ATTEMPT = "an attempt has no start or no end, so its run time is unknown"
