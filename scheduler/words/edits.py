"""What people do to a sandbox, why its time stops, what befalls its nodes, in words.

An event and a revision keep the English, and beside it the code with its holes.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.model.sentence import Hole, Sentence, Words


class Deed(Words):
    """One of several things that somebody did at once; the hole `deeds` holds them."""

    BOTH = ("deed.both", "{deed} and {deeds}")
    POLICY = ("deed.policy", "changes the policy")
    CREATES_MANY = ("deed.createsMany", "creates {number}")
    CREATES = ("deed.creates", "creates {object}")
    CHANGES_MANY = ("deed.changesMany", "changes {number}")
    CHANGES = ("deed.changes", "changes {object}")


class AnyOf(Words):
    """What a run waits for, where it is more than one; the hole `awaited` holds it."""

    EITHER = ("anyOf.either", "{name} or {awaited}")


class Edited(Words):
    """What somebody did.

    The hole `edit` holds another of them, `who` the name of a user, which has no blank.
    """

    MAKES = ("edit.makes", "{who} makes {title}")
    RENAMES = ("edit.renames", "{who} names it {title}")
    PLAYS = ("edit.plays", "{who} plays")
    PAUSES = ("edit.pauses", "{who} pauses")
    FASTEST = ("edit.fastest", "{who} sets the speed to as fast as it goes")
    SPEED = ("edit.speed", "{who} sets the speed to {speed} ticks/s")
    RUNS_TO_TICK = ("edit.runsToTick", "{who} runs until tick {tick}")
    RUNS_TO_EITHER = ("edit.runsToEither", "{who} runs until {awaited} or tick {tick}")
    RUNS_TO = ("edit.runsTo", "{who} runs until {awaited}")
    REWINDS = ("edit.rewinds", "{who} rewinds to tick {tick}")
    KEEPS = ("edit.keeps", "{who} keeps what-if {number}")
    UNDOES = ("edit.undoes", "{who} undoes: {edit}")
    REDOES = ("edit.redoes", "{who} redoes: {edit}")
    KEEPS_BOTH = (
        "edit.keepsBoth",
        "{who} keeps the last {ticks} ticks and {days} days",
    )
    KEEPS_TICKS = ("edit.keepsTicks", "{who} keeps the last {ticks} ticks")
    KEEPS_DAYS = ("edit.keepsDays", "{who} keeps the last {days} days")
    KEEPS_ALL = ("edit.keepsAll", "{who} keeps all history")
    MOVES = ("edit.moves", "{who} moves {object} to {target}")
    PINS = ("edit.pins", "{who} pins pod {pod} to {node}")
    UNPINS = ("edit.unpins", "{who} unpins {pod}")
    EVICTS = ("edit.evicts", "{who} evicts pod {pod}")
    ADDS_NODE = ("edit.addsNode", "{who} adds node {node}")
    CORDONS = ("edit.cordons", "{who}: cordon node {node}")
    UNCORDONS = ("edit.uncordons", "{who}: uncordon node {node}")
    DRAINS = ("edit.drains", "{who}: drain node {node}")
    FAILS = ("edit.fails", "{who}: fail node {node}")
    RECOVERS = ("edit.recovers", "{who}: recover node {node}")
    LOSES_CLUSTER = ("edit.losesCluster", "{who}: lose cluster {cluster}")
    RECOVERS_CLUSTER = ("edit.recoversCluster", "{who}: recover cluster {cluster}")
    PUTS = ("edit.puts", "{who} puts {number} objects")
    POLICY = ("edit.policy", "{who} changes the policy")
    CREATES = ("edit.creates", "{who} creates {kind} {object}")
    CHANGES = ("edit.changes", "{who} changes {kind} {object}")
    DELETES = ("edit.deletes", "{who} deletes {kind} {object}")
    DELETES_MANY = ("edit.deletesMany", "{who} deletes {number}")
    TOGETHER = ("edit.together", "{who} {deeds}")


class Stopped(Words):
    """Why the time of a sandbox stops by itself, and what it lets go."""

    TICK = ("stopped.tick", "tick {tick} is reached")
    SEEN = ("stopped.seen", "{name} {object} is seen")
    QUIET = ("stopped.quiet", "nothing more happens by itself")
    RECORDING = ("stopped.recording", "the recording ends here")
    TRIMMED = ("stopped.trimmed", "history before tick {tick} is deleted")


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
