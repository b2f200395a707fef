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
    STALE = (
        "refused.stale",
        "edited since revision {revision}; look again and repeat",
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
    NO_KUEUE = (
        "refused.noKueue",
        "only decisions of Kueue are compared; it has none",
    )
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
