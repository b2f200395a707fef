"""Why an action is refused, in words that the page has in three languages."""

from __future__ import annotations

from scheduler.model.sentence import Words


class Refused(Words):
    """Why something cannot be done to a sandbox, and what can be done instead."""

    NOT_THERE = ("refused.notThere", "{kind} {name} is not in this sandbox")
    LOOK_ONLY = ("refused.lookOnly", "you may look at this sandbox but not change it")
    REAL = (
        "refused.real",
        "{title} shows a real cluster and cannot be edited; fork it and edit the fork",
    )
    NO_STEPS = (
        "refused.noSteps",
        "{title} follows a cluster, whose time nobody steps; fork it",
    )
    NO_PAST_IN_COMMON = (
        "refused.noPastInCommon",
        "{sandbox} and {other} are no branches of one run: they have no past in common",
    )
    ARCHIVED = ("refused.archived", "the sandbox is archived; open it again first")
    ARCHIVED_ALREADY = ("refused.archivedAlready", "the sandbox is archived already")
    OPEN = ("refused.open", "the sandbox is open")
    HAS_FORKS = (
        "refused.hasForks",
        "forks share its history: {names}; archive or delete them first",
    )
    STALE = ("refused.stale", "edited since revision {revision}; look again and repeat")
    BETWEEN = (
        "refused.between",
        "something else changed the sandbox {times} times meanwhile; try again",
    )
    OWNED_POD = (
        "refused.ownedPod",
        "pod {pod} runs on {node} and its owner would make another one; "
        "pin it while it waits, or drain the node",
    )
    OTHER_CLUSTER = (
        "refused.otherCluster",
        "pod {pod} is of {here}, node {node} of {there}",
    )
    NODE_THERE = ("refused.nodeThere", "node {node} is in this sandbox already")
    AT_TICK = ("refused.atTick", "the sandbox is at tick {tick} already")
    NOT_OPEN = (
        "refused.notOpen",
        "what-if {number} is {state}; one that is open can be kept or discarded",
    )
    OTHER_PAST = (
        "refused.otherPast",
        "what-if {number} begins at revision {revision}, which an undo or a rewind "
        "took out of this run's past; ask it anew",
    )
    NO_UNDO = ("refused.noUndo", "there is no edit to undo")
    NO_REDO = ("refused.noRedo", "there is no edit to redo")
    NOT_THEN = (
        "refused.notThen",
        "revision {revision} ({what}) is not possible then: {problem}",
    )
    NO_SCRIPT = (
        "refused.noScript",
        "this sandbox has no lesson: mark a moment of its run first",
    )
    LESSON_OF_REAL = (
        "refused.lessonOfReal",
        "this sandbox shows a recording, and a lesson is one file that plays by itself: "
        "the archive of the sandbox has both, or write it in a fork",
    )
    CHANGED_ON_THE_WAY = (
        "refused.changedOnTheWay",
        "somebody changed the run in tick {tick}, and a lesson is one file that plays by "
        "itself: write it in a run without changes, or give them in the files",
    )
    NO_FORK_BY_LINK = (
        "refused.noForkByLink",
        "the link that you opened is to look, not to fork",
    )
    NO_CONVERT_BY_LINK = (
        "refused.noConvertByLink",
        "the link that you opened is to look, not to convert",
    )
    FOLLOWED_ALREADY = ("refused.followedAlready", "the cluster is followed already")
    FOLLOWED_THERE = (
        "refused.followedThere",
        "{cluster} is followed by {place}; look there, or fork it",
    )
    NO_CLUSTER = (
        "refused.noCluster",
        "it shows no real cluster; a twin's decisions are compared",
    )
    NO_KUEUE = ("refused.noKueue", "only decisions of Kueue are compared; it has none")
    REAL_SEARCH = (
        "refused.realSearch",
        "preemption {event} was taken by the real cluster, whose search is not shown; "
        "fork the tick before it to see what this engine decides",
    )
    REAL_EVENT = (
        "refused.realEvent",
        "event {event} was taken by the real cluster; fork the tick before it, "
        "where a decision of this engine can be reproduced",
    )
    NO_REPLAY = (
        "refused.noReplay",
        "it shows no real cluster; fork it and compare the forks",
    )
    RUN_STATE = ("refused.runState", "run {run} is {state}; only ended ones compare")
    SHOWN_ALREADY = (
        "refused.shownAlready",
        "the answer to this question was shown already",
    )
    FULL_LESSON = (
        "refused.fullLesson",
        "{n} browser follows already; no more fit|{n} browsers follow already; no more fit",
    )


# ------------------------------------------------------------------------
# What does not exist and what cannot be taken, in words that the page has in three
# languages.


class Absent(Words):
    """Something that does not exist, or is no longer kept."""

    SANDBOX = ("absent.sandbox", "sandbox {sandbox} does not exist")
    ANSWER = (
        "absent.answer",
        "answer {answer} does not exist, or was not asked for in time; ask again",
    )
    GONE = ("absent.gone", "deleted or archived")
    MEMBER = ("absent.member", "{name} is not a member")
    LINK = ("absent.link", "link {link} does not exist")
    DEAD_LINK = ("absent.deadLink", "this link does not exist, or is no longer valid")
    TOKEN = ("absent.token", "token {token} does not exist")
    LESSON_CODE = ("absent.lessonCode", "no lesson has this code, or it has ended")
    FOLLOWER = (
        "absent.follower",
        "there is no follower {key} here; join with the code",
    )
    LESSON = ("absent.lesson", "no lesson runs here")
    STOP = ("absent.stop", "this lesson has {stops} stops, no stop {stop}")
    EXPERIMENT = ("absent.experiment", "experiment {experiment} does not exist")
    RUN = ("absent.run", "run {run} does not exist; there are {total}")
    PREEMPTION = ("absent.preemption", "there is no preemption {event}")
    EVENT = ("absent.event", "there is no event {event}")
    DECISION = ("absent.decision", "event {event} shows no admission and no preemption")
    FORECAST = ("absent.forecast", "forecast {forecast} of {sandbox} does not exist")
    WHAT_IF = ("absent.whatIf", "what-if {number} of {sandbox} does not exist")
    FUTURE_TICK = (
        "absent.futureTick",
        "tick {tick} is in the future; the present tick is {now}",
    )
    OLD_TICK = (
        "absent.oldTick",
        "tick {tick} is no longer kept; this sandbox's history begins at tick {first}",
    )
    TICK = ("absent.tick", "tick {tick} is no longer known")
    REVISION = ("absent.revision", "revision {revision} is no longer known")
    NO_GOING_ON = (
        "absent.noGoingOn",
        "tick {tick} can be shown but not continued from: it was computed by an older version of this program; take a tick with a checkpoint",
    )
    BRANCH_POINT = (
        "absent.branchPoint",
        "branch {branch} diverges from the others before tick {tick}, where its kept history begins",
    )
    SCENARIO = ("absent.scenario", "there is no scenario {name} in the library")
    SCENARIO_NEAR = (
        "absent.scenarioNear",
        "there is no scenario {name} in the library; did you mean {near}?",
    )


class NotTaken(Words):
    """What was given cannot be taken or answered as a whole."""

    CONVERTED = ("notTaken.converted", "the files cannot be converted")
    NOTHING = ("notTaken.nothing", "nothing was taken")
    NODE = ("notTaken.node", "not a node")
    BASE = ("notTaken.base", "the base cannot be taken")
    MANIFEST = ("notTaken.manifest", "the manifest cannot be taken")
    WINDOW = ("notTaken.window", "expected fromTick before toTick, got {start}, {end}")
    EDIT = (
        "notTaken.edit",
        "event {event} is {type}, the act of a user; only a decision of a scheduler can be reproduced",
    )
    FILM = (
        "notTaken.film",
        "event {event} is {type}, which is no film; an admission, a preemption, a wait and "
        "a pod's way to its node are",
    )
    FILES = ("notTaken.files", "the files cannot be taken")
    COSTLY = (
        "notTaken.costly",
        "reading these files ended {count} processes, or took more than {seconds} s "
        "each time; split them, or leave out what is unusual in them",
    )
    LONG = (
        "notTaken.long",
        "reading these files took more than {seconds} s, and was stopped; nothing was "
        "taken: split them, or leave out what is unusual in them",
    )


# ------------------------------------------------------------------------
# Who may not, and what has to wait, in words that the page has in three languages.


class Denied(Words):
    """Somebody may not do it."""

    CLUSTER = (
        "denied.cluster",
        "{user} may not follow cluster {cluster} any more; the operator's file of clusters says who may",
    )
    LET_IN = ("denied.letIn", "only its owner lets others in")
    REVOKED = ("denied.revoked", "the token that asks was revoked")
    ARCHIVE = ("denied.archive", "only its owner archives a sandbox or opens it again")
    GROUPS = ("denied.groups", "none of your groups may come in here")
    ACCOUNT = ("denied.account", "this account was switched off here")
    KEEP = ("denied.keep", "only its owner decides how much history is kept")
    SHOW = ("denied.show", "only its owner shows or hides a sandbox")
    DELETE = ("denied.delete", "only its owner deletes a sandbox")
    EXPERIMENT = (
        "denied.experiment",
        "you may look at this experiment but not change it",
    )
    GUEST = ("denied.guest", "a guest follows a lesson and has no sandboxes")
    SANDBOXES = (
        "denied.sandboxes",
        "you have {most} sandboxes, as many as allowed; delete one first",
    )
    JOBS = (
        "denied.jobs",
        "{most} experiments and forecasts of yours run now, as many as allowed; "
        "try again when one has ended, or cancel one",
    )
    ANSWERS = (
        "denied.answers",
        "as many answers as allowed are being worked out for you or for all; try again",
    )
    WAITS = (
        "denied.waits",
        "as many requests as allowed wait for you or for all; ask without wait, or again",
    )
    EXPORT = ("denied.export", "the link that you opened is to look, not to export")
    CLUSTERS = (
        "denied.clusters",
        "cluster {cluster} may not be followed; expected one of {known}",
    )
    NO_CLUSTERS = (
        "denied.noClusters",
        "cluster {cluster} may not be followed; QUOTALAB_CLUSTERS names none",
    )


class NotNow(Words):
    """It cannot be done now, or not so."""

    ARCHIVE = (
        "notNow.archive",
        "the archive could not be read back, so nothing was removed: {error}",
    )
    ENDING = ("notNow.ending", "this process is about to end; ask again in a moment")
    RUN = ("notNow.run", "run {run} is {state}; name a tick to open it at")
    EXPERIMENT = ("notNow.experiment", "the experiment is {state} already")
    SEARCH = ("notNow.search", "the experiment is no search that runs: {state}")
    ANSWER = ("notNow.answer", "the experiment has no answer: it is {state}")
    KEY = ("notNow.key", "this key was used for another request")
    ANSWERED = ("notNow.answered", "a request with this key is being answered now")
    CARRIED_OUT = (
        "notNow.carriedOut",
        "the request with this key was carried out, but its answer was lost; look at "
        "what is there now",
    )
    BUDGET = (
        "notNow.budget",
        "Cannot evict pod as it would violate the pod's disruption budget.",
    )
    HELD = ("notNow.held", "somebody else holds the sandbox; pause it there")
    TOO_FAST = (
        "notNow.tooFast",
        "the sandbox changes faster than it can be read; pause it",
    )
    BUSY = ("notNow.busy", "the sandbox is busy with something long; try again")
    DEAR = (
        "notNow.dear",
        "given up: the request took {seconds} s of the web server's processor (REQUEST_CPU_SECONDS); ask for less",
    )
    DATABASE = ("notNow.database", "the database does not answer; nothing is lost")
    BUS = ("notNow.bus", "the message bus is away; time stands still")
    ELSEWHERE = ("notNow.elsewhere", "followed elsewhere")
    MOVED_ON = ("notNow.movedOn", "{sandbox} has moved on from revision {revision}")
    VERSION = (
        "notNow.version",
        "it is at version {version} now, If-Match names {given}; read it again and repeat",
    )
