"""Who may not, and what has to wait, in words that the page has in three languages."""

from __future__ import annotations

from scheduler.model.sentence import Words


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
    DATABASE = (
        "notNow.database",
        "the database does not answer; nothing is lost",
    )
    BUS = ("notNow.bus", "the message bus is away; time stands still")
    ELSEWHERE = ("notNow.elsewhere", "followed elsewhere")
    MOVED_ON = ("notNow.movedOn", "{sandbox} has moved on from revision {revision}")
    VERSION = (
        "notNow.version",
        "it is at version {version} now, If-Match names {given}; read it again and repeat",
    )
