"""Why a move cannot be done, in words."""

from __future__ import annotations

from scheduler.model.errors import SchedulerError
from scheduler.model.sentence import Sentence, Words
from scheduler.words.reading import read


class MoveRefused(Words):
    """Why an object cannot be moved where it was dropped."""

    OWN_PARENT = ("moveRefused.ownParent", "{key} cannot be its own parent")
    KINDS = ("moveRefused.kinds", "a {kind} cannot be moved to a {target}")
    CLUSTERS = ("moveRefused.clusters", "{key} and {target} are of different clusters")
    THERE = ("moveRefused.there", "{workload} is in LocalQueue {queue} already")
    LEADS_NOWHERE = (
        "moveRefused.leadsNowhere",
        "LocalQueue {queue} leads to no ClusterQueue",
    )
    SELECTOR = (
        "moveRefused.selector",
        "namespace {namespace} does not match the selector of {queue}",
    )
    FINISHED = ("moveRefused.finished", "{workload} is finished")
    NAMESPACE = (
        "moveRefused.namespace",
        "LocalQueue {queue} is in another namespace than {namespace}",
    )
    NO_LOCAL_QUEUE = ("moveRefused.noLocalQueue", "LocalQueue {queue} is not there")
    NOT_LED = (
        "moveRefused.notLed",
        "namespace {namespace} has no LocalQueue that leads to {target}",
    )


class RefusedError(SchedulerError):
    """What cannot be done, said by a sentence with a code."""

    def __init__(self, said: Sentence) -> None:
        super().__init__(said.text)
        self.said = said


def said_of(error: Exception) -> Sentence | str:
    """Return what an error says: with its code, where it has one."""
    own = error.said if isinstance(error, RefusedError) else None
    return own or read(str(error)) or str(error)
