"""An explanation in a few English sentences, each with its numbers."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.explain.shapes import Explanation, FlavorRow, PreemptionSearch, Waiting
from scheduler.explain.wording import bare, counted, listed, ordinal, quantity
from scheduler.kueue.cache.cluster import Cluster
from scheduler.kueue.workload.info import WorkloadInfo
from scheduler.reasons import ADMITTED, QUOTA_RESERVED

_STRICT = "StrictFIFO"


def of(answer: Explanation) -> list[str]:
    """Return the sentences of an explanation."""
    return [
        *_state(answer),
        *_line(answer),
        *_flavors(answer),
        *_topology(answer),
        *_preemption(answer),
    ]


def of_slice(cluster: Cluster, work: WorkloadInfo) -> Iterator[str]:
    """Yield what a slice of an elastic job has to do with the one beside it.

    Source: docs/semantics/kueue-elastic-jobs.md#scaling-up.
    """
    before, after = cluster.replaced_by(work), cluster.successor_of(work)
    if before is not None and not work.reserved:
        yield (
            f"It is to replace {before.key.name}, whose job grows: only what it asks "
            "beyond that one's quota counts, on the same flavors."
        )
    if after is not None and work.reserved:
        yield f"Its job grows: {after.key.name} waits to take over its quota."


def of_variants(cluster: Cluster, work: WorkloadInfo) -> Iterator[str]:
    """Yield what a Workload and its variants have to do with one another.

    Source: docs/semantics/kueue-concurrent-admission.md#parent-and-variants.
    """
    queue = cluster.cluster_queue_of(work)
    if cluster.families is None or queue is None or not queue.spec.groups:
        return
    if work.parent is not None:
        yield (
            f"It is the variant of {work.parent.name} for flavor {work.flavor}, which "
            "runs as the first of its variants that is admitted."
        )
    elif cluster.is_parent(work):
        for variant in cluster.families.variants(
            work.key, queue.spec.groups[0].flavors
        ):
            yield f"Variant {variant.key.name} for flavor {variant.flavor}: {_stands(variant)}."


def _stands(variant: WorkloadInfo) -> str:
    """Return where a variant stands, in its own condition's words."""
    if not variant.active:
        return "it is not active"
    if variant.has_condition(ADMITTED):
        return "it is admitted"
    known = variant.conditions.get(QUOTA_RESERVED)
    return "it was not tried yet" if known is None else known.message


def _topology(answer: Explanation) -> Iterator[str]:
    if answer.state in ("pending", "requeued"):
        yield from (search.sentence for search in answer.topology if not search.empty)


def _state(answer: Explanation) -> Iterator[str]:
    attempt = answer.attempt
    if not attempt.ran:
        yield f"It is not tried for admission: {attempt.message}."
        return
    match attempt.status:
        case "admitted":
            yield "Tried now as the head of its queue, it would be admitted."
        case "preempting":
            names = listed([bare(v.workload) for v in attempt.targets])
            yield f"Tried now as the head of its queue, it would preempt {names}."
        case "skipped":
            yield f"Tried now, {attempt.message[:1].lower()}{attempt.message[1:]}."
        case _:
            yield f"Tried now as the head of its queue, it would wait: {attempt.reason}."


def _line(answer: Explanation) -> Iterator[str]:
    waiting = answer.waiting
    if waiting is None:
        return
    if waiting.not_before_ms is not None and waiting.not_before_ms > answer.at_ms:
        yield f"It is not tried again before {waiting.not_before_ms / 1000:g} s."
    if waiting.position > 1:
        yield _behind(waiting)
    elif waiting.inadmissible:
        yield "It is set aside until quota is released in its tree."


def _behind(waiting: Waiting) -> str:
    place = f"It is {ordinal(waiting.position)} of {waiting.of} in its ClusterQueue"
    if waiting.strategy == _STRICT:
        first = waiting.ahead[0] if not waiting.more_ahead else ""
        head = f" {bare(first)}" if first else " the head"
        return f"{place}: {_STRICT} tries nobody before{head} is admitted."
    return f"{place}, behind {bare(waiting.ahead[-1])}."


def _flavors(answer: Explanation) -> Iterator[str]:
    if answer.state not in ("pending", "requeued"):
        return
    for row in answer.flavors:
        text = _flavor(row)
        if text:
            yield text


def _flavor(row: FlavorRow) -> str:
    asked = quantity(row.resource, row.requested)
    match row.verdict:
        case "barred":
            return f"Flavor {row.flavor} cannot run its pods: {row.reason}."
        case "uncovered":
            return (
                f"{asked} asked, and its ClusterQueue has no quota of {row.resource}."
            )
        case "fit" | "notTried":
            return ""
        case _:
            return _short(row, asked)


def _short(row: FlavorRow, asked: str) -> str:
    free = quantity(row.resource, row.available)
    short = quantity(row.resource, row.shortfall)
    most = ""
    if int(row.requested) > int(row.potential):
        potential = quantity(row.resource, row.potential)
        most = f", and no more than {potential} could ever be"
    return f"Flavor {row.flavor}: {asked} asked, {free} free{most}; short by {short}."


def _preemption(answer: Explanation) -> Iterator[str]:
    if answer.decisive is None:
        yield from _not_tried(answer)
        return
    search = answer.searches[answer.decisive]
    if search.targets:
        return
    yield _nobody(search)


def _nobody(search: PreemptionSearch) -> str:
    looked = [step for step in search.steps if step.kind == "candidate"]
    if not looked:
        holders = sum(source.holders for source in search.sources)
        if holders == 1:
            return "Preemption: 1 workload holds what is needed, and it may not go."
        who = counted(holders, "workload")
        return f"Preemption: {who} hold what is needed, and none of them may go."
    refused = {step.workload for step in looked if step.verdict == "refused"}
    taken = {step.workload for step in looked if step.verdict == "taken"}
    number = counted(len(refused | taken), "candidate")
    if not taken:
        return f"Preemption: {number} looked at, all refused."
    return f"Preemption: {number} looked at; all who may go are not enough."


def _not_tried(answer: Explanation) -> Iterator[str]:
    """Say why no search was made for victims although quota is short."""
    for row in answer.flavors:
        if row.verdict == "noFit" and int(row.requested) <= int(row.potential):
            asked = quantity(row.resource, row.requested)
            nominal = quantity(row.resource, row.chain[0].nominal)
            yield (
                f"Preemption is not tried in flavor {row.flavor}: {asked} is more "
                f"than its nominal quota of {nominal}, and it may not preempt to "
                "borrow (borrowWithinCohort is Never)."
            )
