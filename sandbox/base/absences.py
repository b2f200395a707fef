"""What does not exist and what cannot be taken, in words that the page has in three languages."""

from __future__ import annotations

from scheduler.model.sentence import Words


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
