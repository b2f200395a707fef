"""What is wrong with files, recordings and archives, in words."""

from __future__ import annotations

from scheduler.model.sentence import Stated


class FileProblem(Stated, prefix="file"):
    """Why a file cannot be read, or no more of it."""

    NESTED = "archives within archives, over {most} deep"
    UNPACKED = "refused: unpacked it is over the limit; split it"
    FILES = "over {most} files in it"
    TAR = "expected a tar: {problem}"
    DOCUMENTS = "over {most} documents"
    COLUMNS = "expected the columns {known}"
    JOB_LIST = "expected a JSON list of jobs: {problem}"
    RECORDING = "expected a .qrec file, which begins with {known}, got {given}"
    ZLIB = "expected zlib data: {problem}"
    NO_LISTS = (
        "the recording ends before the first lists were complete; still missing: "
        "{known}"
    )
    NUL = "a text holds a NUL; leave it out"
    VALUES = "too many values when opened; split it"
    BESIDE = "expected it with {known}, got none"
    NO_EVENTS = "expected watch events, found none"
    ITEMS = "expected a List with items: {problem}"
    WATCH_EVENT = "expected a watch event with at, type and object: {problem}"
    WATCHED = (
        "expected an object with kind and name, got {given}: {problem}; record again, "
        "or take the line out"
    )
    TYPED = "expected type and object: {problem}"
    ONE_SCENARIO = "expected one Scenario, got a second"
    FORMAT = "expected a world of format {least}, got {given}"


class Unshown(Stated, prefix="unshown"):
    """Why what stands behind a decision is not shown."""

    NOT_THIS = (
        "the tick after {at} ms does not let {first} preempt {last}: is this the world "
        "before it?"
    )
    NO_SEARCH = "no search stands behind {given}"
    NO_CYCLE = (
        "no scheduling cycle of the tick after {at} ms is about {subject}: ask about a "
        "tick in which it is tried"
    )
    OTHER_PLUGIN = (
        "the search of {name} is not shown, only that of {other}: {first} preempted "
        "{last}"
    )
    OF_WORKER = (
        "{name} is of worker cluster {cluster}: what would become of it is run for the "
        "manager's objects only; ask about the manager's, or about a change for "
        "everybody"
    )
