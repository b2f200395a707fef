"""Why an action is refused, in words that the page has in three languages."""

from __future__ import annotations

from scheduler.model.sentence import Words


class Refused(Words, prefix="refused"):
    """Why something cannot be done to a sandbox, and what can be done instead."""

    NOT_THERE = "{kind} {name} is not in this sandbox"
    LOOK_ONLY = "you may look at this sandbox but not change it"
    REAL = (
        "{title} shows a real cluster and cannot be edited; fork it and edit the fork"
    )
    NO_STEPS = "{title} follows a cluster, whose time nobody steps; fork it"
    NO_PAST_IN_COMMON = (
        "{sandbox} and {other} are no branches of one run: they have no past in common"
    )
    ARCHIVED = "the sandbox is archived; open it again first"
    ARCHIVED_ALREADY = "the sandbox is archived already"
    OPEN = "the sandbox is open"
    HAS_FORKS = "forks share its history: {names}; archive or delete them first"
    STALE = "edited since revision {revision}; look again and repeat"
    BETWEEN = "something else changed the sandbox {times} times meanwhile; try again"
    OWNED_POD = (
        "pod {pod} runs on {node} and its owner would make another one; "
        "pin it while it waits, or drain the node"
    )
    OTHER_CLUSTER = "pod {pod} is of {here}, node {node} of {there}"
    NODE_THERE = "node {node} is in this sandbox already"
    AT_TICK = "the sandbox is at tick {tick} already"
    NOT_OPEN = "what-if {number} is {state}; one that is open can be kept or discarded"
    OTHER_PAST = (
        "what-if {number} begins at revision {revision}, which an undo or a rewind "
        "took out of this run's past; ask it anew"
    )
    NO_UNDO = "there is no edit to undo"
    NO_REDO = "there is no edit to redo"
    NOT_THEN = "revision {revision} ({what}) is not possible then: {problem}"
    NO_SCRIPT = "this sandbox has no lesson: mark a moment of its run first"
    LESSON_OF_REAL = (
        "this sandbox shows a recording, and a lesson is one file that plays by itself: "
        "the archive of the sandbox has both, or write it in a fork"
    )
    CHANGED_ON_THE_WAY = (
        "somebody changed the run in tick {tick}, and a lesson is one file that plays by "
        "itself: write it in a run without changes, or give them in the files"
    )
    NO_FORK_BY_LINK = "the link that you opened is to look, not to fork"
    NO_CONVERT_BY_LINK = "the link that you opened is to look, not to convert"
    FOLLOWED_ALREADY = "the cluster is followed already"
    FOLLOWED_THERE = "{cluster} is followed by {place}; look there, or fork it"
    NO_CLUSTER = "it shows no real cluster; a twin's decisions are compared"
    NO_KUEUE = "only decisions of Kueue are compared; it has none"
    REAL_SEARCH = (
        "preemption {event} was taken by the real cluster, whose search is not shown; "
        "fork the tick before it to see what this engine decides"
    )
    REAL_EVENT = (
        "event {event} was taken by the real cluster; fork the tick before it, "
        "where a decision of this engine can be reproduced"
    )
    NO_REPLAY = "it shows no real cluster; fork it and compare the forks"
    RUN_STATE = "run {run} is {state}; only ended ones compare"
    SHOWN_ALREADY = "the answer to this question was shown already"
    FULL_LESSON = "{n} browser follows already; no more fit|{n} browsers follow already; no more fit"


# ------------------------------------------------------------------------
# What does not exist and what cannot be taken, in words that the page has in three
# languages.


class Absent(Words, prefix="absent"):
    """Something that does not exist, or is no longer kept."""

    SANDBOX = "sandbox {sandbox} does not exist"
    ANSWER = "answer {answer} does not exist, or was not asked for in time; ask again"
    GONE = "deleted or archived"
    MEMBER = "{name} is not a member"
    LINK = "link {link} does not exist"
    DEAD_LINK = "this link does not exist, or is no longer valid"
    TOKEN = "token {token} does not exist"
    LESSON_CODE = "no lesson has this code, or it has ended"
    FOLLOWER = "there is no follower {key} here; join with the code"
    LESSON = "no lesson runs here"
    STOP = "this lesson has {stops} stops, no stop {stop}"
    EXPERIMENT = "experiment {experiment} does not exist"
    RUN = "run {run} does not exist; there are {total}"
    PREEMPTION = "there is no preemption {event}"
    EVENT = "there is no event {event}"
    DECISION = "event {event} shows no admission and no preemption"
    FORECAST = "forecast {forecast} of {sandbox} does not exist"
    WHAT_IF = "what-if {number} of {sandbox} does not exist"
    FUTURE_TICK = "tick {tick} is in the future; the present tick is {now}"
    OLD_TICK = (
        "tick {tick} is no longer kept; this sandbox's history begins at tick {first}"
    )
    TICK = "tick {tick} is no longer known"
    REVISION = "revision {revision} is no longer known"
    NO_GOING_ON = "tick {tick} can be shown but not continued from: it was computed by an older version of this program; take a tick with a checkpoint"
    BRANCH_POINT = "branch {branch} diverges from the others before tick {tick}, where its kept history begins"
    SCENARIO = "there is no scenario {name} in the library"
    SCENARIO_NEAR = "there is no scenario {name} in the library; did you mean {near}?"


class NotTaken(Words, prefix="notTaken"):
    """What was given cannot be taken or answered as a whole."""

    CONVERTED = "the files cannot be converted"
    NOTHING = "nothing was taken"
    NODE = "not a node"
    BASE = "the base cannot be taken"
    MANIFEST = "the manifest cannot be taken"
    WINDOW = "expected fromTick before toTick, got {start}, {end}"
    EDIT = "event {event} is {type}, the act of a user; only a decision of a scheduler can be reproduced"
    FILM = (
        "event {event} is {type}, which is no film; an admission, a preemption, a wait and "
        "a pod's way to its node are"
    )
    FILES = "the files cannot be taken"
    COSTLY = (
        "reading these files ended {count} processes, or took more than {seconds} s "
        "each time; split them, or leave out what is unusual in them"
    )
    LONG = (
        "reading these files took more than {seconds} s, and was stopped; nothing was "
        "taken: split them, or leave out what is unusual in them"
    )


# ------------------------------------------------------------------------
# Who may not, and what has to wait, in words that the page has in three languages.


class Denied(Words, prefix="denied"):
    """Why a person may not do something."""

    CLUSTER = "{user} may not follow cluster {cluster} any more; the operator's file of clusters says who may"
    LET_IN = "only its owner lets others in"
    REVOKED = "the token that asks was revoked"
    ARCHIVE = "only its owner archives a sandbox or opens it again"
    GROUPS = "none of your groups may come in here"
    ACCOUNT = "this account was switched off here"
    KEEP = "only its owner decides how much history is kept"
    SHOW = "only its owner shows or hides a sandbox"
    DELETE = "only its owner deletes a sandbox"
    EXPERIMENT = "you may look at this experiment but not change it"
    GUEST = "a guest follows a lesson and has no sandboxes"
    SANDBOXES = "you have {most} sandboxes, as many as allowed; delete one first"
    JOBS = (
        "{most} experiments and forecasts of yours run now, as many as allowed; "
        "try again when one has ended, or cancel one"
    )
    ANSWERS = (
        "as many answers as allowed are being worked out for you or for all; try again"
    )
    WAITS = "as many requests as allowed wait for you or for all; ask without wait, or again"
    EXPORT = "the link that you opened is to look, not to export"
    CLUSTERS = "cluster {cluster} may not be followed; expected one of {known}"
    NO_CLUSTERS = "cluster {cluster} may not be followed; QUOTALAB_CLUSTERS names none"


class NotNow(Words, prefix="notNow"):
    """Why something cannot be done at this moment, or not in this way."""

    ARCHIVE = "the archive could not be read back, so nothing was removed: {error}"
    ENDING = "this process is about to end; ask again in a moment"
    RUN = "run {run} is {state}; name a tick to open it at"
    EXPERIMENT = "the experiment is {state} already"
    SEARCH = "the experiment is no search that runs: {state}"
    ANSWER = "the experiment has no answer: it is {state}"
    KEY = "this key was used for another request"
    ANSWERED = "a request with this key is being answered now"
    CARRIED_OUT = (
        "the request with this key was carried out, but its answer was lost; look at "
        "what is there now"
    )
    BUDGET = "Cannot evict pod as it would violate the pod's disruption budget."
    HELD = "somebody else holds the sandbox; pause it there"
    TOO_FAST = "the sandbox changes faster than it can be read; pause it"
    BUSY = "the sandbox is busy with something long; try again"
    DEAR = "given up: the request took {seconds} s of the web server's processor (REQUEST_CPU_SECONDS); ask for less"
    DATABASE = "the database does not answer; nothing is lost"
    BUS = "the message bus is away; time stands still"
    ELSEWHERE = "followed elsewhere"
    MOVED_ON = "{sandbox} has moved on from revision {revision}"
    VERSION = "it is at version {version} now, If-Match names {given}; read it again and repeat"
