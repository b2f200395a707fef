"""What an edit, a move or a pin would come to, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words


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
    SAME = (
        "whatIf.same",
        "Nothing changes within {seconds} s: both runs come to the same.",
    )
    SHARES_ONLY = (
        "whatIf.sharesOnly",
        "Nobody starts or ends at another time within {seconds} s.",
    )
    STARTS = (
        "whatIf.starts",
        "{n} more starts within {seconds} s: {names}.|"
        "{n} more start within {seconds} s: {names}.",
    )
    EARLIER = (
        "whatIf.earlier",
        "{n} starts earlier: {names}.|{n} start earlier: {names}.",
    )
    NEVER = (
        "whatIf.never",
        "{n} loses its place and does not run at {seconds} s: {names}.|"
        "{n} lose their place and do not run at {seconds} s: {names}.",
    )
    LATER = ("whatIf.later", "{n} starts later: {names}.|{n} start later: {names}.")
    ENDS_EARLIER = (
        "whatIf.endsEarlier",
        "{n} ends earlier: {names}.|{n} end earlier: {names}.",
    )
    ENDS_LATER = (
        "whatIf.endsLater",
        "{n} ends later: {names}.|{n} end later: {names}.",
    )
    ELSEWHERE = (
        "whatIf.elsewhere",
        "{n} starts at the same time elsewhere: {names}.|"
        "{n} start at the same time elsewhere: {names}.",
    )
    PODS = (
        "whatIf.pods",
        "{n} pod gets another node, or gets it at another time.|"
        "{n} pods get another node, or get it at another time.",
    )
    PREEMPTS = ("whatIf.preempts", "Preempts {names} ({reasons}).")
    SHARES = ("whatIf.shares", "Weighted shares: {shares}.")
    SHARE = ("whatIf.share", "{name} {before} to {after}")
    LOST = ("whatIf.lost", "Work lost: {seconds} s.")
    SPARED = ("whatIf.spared", "Work lost: {seconds} s less.")
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
