"""What an edit, a move or a pin would come to, in words."""

from __future__ import annotations

from scheduler.sentences.sentence import Words


class WhatIf(Words):
    """What came of a change that was run on a copy."""

    USES = (
        "whatIf.uses",
        "{queue} uses {used} of {nominal} in flavor {flavor} and borrows none.",
    )
    BORROWS = (
        "whatIf.borrows",
        "{queue} uses {used} of {nominal} in flavor {flavor} and borrows {borrowed}.",
    )
    ADMITTED = ("whatIf.admitted", "Admitted at tick {tick}.")
    PODS_PENDING = (
        "whatIf.podsPending",
        "Admitted at tick {tick}, but pods stay pending: {message}.",
    )
    WAITS = ("whatIf.waits", "It waits in {queue}: {reason}.")
    BEHIND = (
        "whatIf.behind",
        "It waits in {queue}: {reason}, {n} workload ahead.|"
        "It waits in {queue}: {reason}, {n} workloads ahead.",
    )
    NO_QUEUE = ("whatIf.noQueue", "no ClusterQueue")
    NOBODY = ("whatIf.nobody", "Nobody is admitted who would not be anyhow.")
    MORE = (
        "whatIf.more",
        "{n} more workload is admitted: {names}.|"
        "{n} more workloads are admitted: {names}.",
    )
    PREEMPTS = ("whatIf.preempts", "Preempts {names} ({reasons}).")
    SHARES = ("whatIf.shares", "Weighted shares: {shares}.")
    SHARE = ("whatIf.share", "{name} {before} to {after}")
    LOST = ("whatIf.lost", "Work lost: {seconds} s.")
    REFUSED = ("whatIf.refused", "It cannot be done: {problem}.")


class Pinned(Words):
    """What came of pinning a pod to a node."""

    ROOM = ("pinned.room", "{node} has room.")
    VERDICT = ("pinned.verdict", "{node}: {verdict}.")
    REFUSES = ("pinned.refuses", "{plugin} refuses {node}: {reasons}.")
    PASSES = (
        "pinned.passes",
        "{node} passes every filter: score {score}, place {place} of {of}.",
    )
    BOUND = ("pinned.bound", "It would be bound to {node}.")
    WAITS = ("pinned.waits", "It would wait: {message}")
    WAITS_LONG = ("pinned.waitsLong", "It would wait for at least {seconds} s.")
