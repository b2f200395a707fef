"""What people do to a sandbox, why its time stops, what befalls its nodes, in words.

An event and a revision keep the English, and beside it the code with its holes.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.model.sentence import Hole, Sentence, Words


class Deed(Words, prefix="deed"):
    """One of several things that somebody did at once; the hole `deeds` holds them."""

    BOTH = "{deed} and {deeds}"
    POLICY = "changes the policy"
    CREATES_MANY = "creates {number}"
    CREATES = "creates {object}"
    CHANGES_MANY = "changes {number}"
    CHANGES = "changes {object}"


class AnyOf(Words, prefix="anyOf"):
    """What a run waits for, where it is more than one; the hole `awaited` holds it."""

    EITHER = "{name} or {awaited}"


class Edited(Words, prefix="edit"):
    """What somebody did.

    The hole `edit` holds another of them, `who` the name of a user, which has no blank.
    """

    MAKES = "{who} makes {title}"
    RENAMES = "{who} names it {title}"
    PLAYS = "{who} plays"
    PAUSES = "{who} pauses"
    FASTEST = "{who} sets the speed to as fast as it goes"
    SPEED = "{who} sets the speed to {speed} ticks/s"
    RUNS_TO_TICK = "{who} runs until tick {tick}"
    RUNS_TO_EITHER = "{who} runs until {awaited} or tick {tick}"
    RUNS_TO = "{who} runs until {awaited}"
    REWINDS = "{who} rewinds to tick {tick}"
    KEEPS = "{who} keeps what-if {number}"
    UNDOES = "{who} undoes: {edit}"
    REDOES = "{who} redoes: {edit}"
    KEEPS_BOTH = "{who} keeps the last {ticks} ticks and {days} days"
    KEEPS_TICKS = "{who} keeps the last {ticks} ticks"
    KEEPS_DAYS = "{who} keeps the last {days} days"
    KEEPS_ALL = "{who} keeps all history"
    MOVES = "{who} moves {object} to {target}"
    PINS = "{who} pins pod {pod} to {node}"
    UNPINS = "{who} unpins {pod}"
    EVICTS = "{who} evicts pod {pod}"
    ADDS_NODE = "{who} adds node {node}"
    CORDONS = "{who}: cordon node {node}"
    UNCORDONS = "{who}: uncordon node {node}"
    DRAINS = "{who}: drain node {node}"
    FAILS = "{who}: fail node {node}"
    RECOVERS = "{who}: recover node {node}"
    LOSES_CLUSTER = "{who}: lose cluster {cluster}"
    RECOVERS_CLUSTER = "{who}: recover cluster {cluster}"
    PUTS = "{who} puts {number} objects"
    POLICY = "{who} changes the policy"
    CREATES = "{who} creates {kind} {object}"
    CHANGES = "{who} changes {kind} {object}"
    DELETES = "{who} deletes {kind} {object}"
    DELETES_MANY = "{who} deletes {number}"
    TOGETHER = "{who} {deeds}"


class Stopped(Words, prefix="stopped"):
    """Why the time of a sandbox stops by itself, and what it lets go."""

    TICK = "tick {tick} is reached"
    SEEN = "{name} {object} is seen"
    QUIET = "nothing more happens by itself"
    RECORDING = "the recording ends here"
    TRIMMED = "history before tick {tick} is deleted"


#: Change of a node -> what is said of it.
NODE_SENTENCES = {
    "cordon": Edited.CORDONS,
    "uncordon": Edited.UNCORDONS,
    "drain": Edited.DRAINS,
    "fail": Edited.FAILS,
    "recover": Edited.RECOVERS,
}
#: Change of a worker cluster -> what is said of it.
CLUSTER_SENTENCES = {"lose": Edited.LOSES_CLUSTER, "recover": Edited.RECOVERS_CLUSTER}


def imported(
    who: str, created: Sequence[object], changed: Sequence[object], *, policy: bool
) -> Sentence:
    """Return what somebody brought in at once: one object by its key, more by number."""
    deeds = []
    if created:
        deeds.append(_deed(Deed.CREATES, Deed.CREATES_MANY, created))
    if changed:
        deeds.append(_deed(Deed.CHANGES, Deed.CHANGES_MANY, changed))
    if not deeds:
        return Edited.POLICY.said(who=who)
    if policy:
        deeds.append(Deed.POLICY.said())
    said = deeds.pop()
    for deed in reversed(deeds):
        said = Deed.BOTH.said(deed=deed, deeds=said)
    return Edited.TOGETHER.said(who=who, deeds=said)


def _deed(one: Deed, many: Deed, keys: Sequence[object]) -> Sentence:
    if len(keys) > 1:
        return many.said(number=len(keys))
    return one.said(object=str(keys[0]))


def awaited(types: Sequence[str], subject: str = "") -> Hole:
    """Return what a run waits for: one of some types of events, of one object or of any."""
    if not types:
        return ""
    *rest, last = types
    said: Hole = f"{last} {subject}" if subject else last
    for name in reversed(rest):
        said = AnyOf.EITHER.said(name=name, awaited=said)
    return said
