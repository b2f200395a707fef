"""What is wrong with files, recordings and archives, in words."""

from __future__ import annotations

from scheduler.model.sentence import Stated


class FileProblem(Stated):
    """Why a file cannot be read, or no more of it."""

    NESTED = ("file.nested", "archives within archives, over {most} deep")
    UNPACKED = ("file.unpacked", "refused: unpacked it is over the limit; split it")
    FILES = ("file.files", "over {most} files in it")
    TAR = ("file.tar", "expected a tar: {problem}")
    DOCUMENTS = ("file.documents", "over {most} documents")
    COLUMNS = ("file.columns", "expected the columns {known}")
    JOB_LIST = ("file.jobList", "expected a JSON list of jobs: {problem}")
    RECORDING = (
        "file.recording",
        "expected a .qrec file, which begins with {known}, got {given}",
    )
    ZLIB = ("file.zlib", "expected zlib data: {problem}")
    NO_LISTS = (
        "file.noLists",
        "the recording ends before the first lists were complete; still missing: "
        "{known}",
    )
    NUL = ("file.nul", "a text holds a NUL; leave it out")
    VALUES = ("file.values", "too many values when opened; split it")
    BESIDE = ("file.beside", "expected it with {known}, got none")
    NO_EVENTS = ("file.noEvents", "expected watch events, found none")
    ITEMS = ("file.items", "expected a List with items: {problem}")
    WATCH_EVENT = (
        "file.watchEvent",
        "expected a watch event with at, type and object: {problem}",
    )
    WATCHED = (
        "file.watched",
        "expected an object with kind and name, got {given}: {problem}; record again, "
        "or take the line out",
    )
    TYPED = ("file.typed", "expected type and object: {problem}")
    ONE_SCENARIO = ("file.oneScenario", "expected one Scenario, got a second")
    FORMAT = ("file.format", "expected a world of format {least}, got {given}")


class Unshown(Stated):
    """Why what stands behind a decision is not shown."""

    NOT_THIS = (
        "unshown.notThis",
        "the tick after {at} ms does not let {first} preempt {last}: is this the world "
        "before it?",
    )
    NO_SEARCH = ("unshown.noSearch", "no search stands behind {given}")
    NO_CYCLE = (
        "unshown.noCycle",
        "no scheduling cycle of the tick after {at} ms is about {subject}: ask about a "
        "tick in which it is tried",
    )
    OTHER_PLUGIN = (
        "unshown.otherPlugin",
        "the search of {name} is not shown, only that of {other}: {first} preempted "
        "{last}",
    )
    OF_WORKER = (
        "unshown.ofWorker",
        "{name} is of worker cluster {cluster}: what would become of it is run for the "
        "manager's objects only; ask about the manager's, or about a change for "
        "everybody",
    )
