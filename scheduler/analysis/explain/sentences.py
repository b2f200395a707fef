"""An explanation in a few sentences, each with its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler.analysis.explain.shapes import (
    Explanation,
    FlavorRow,
    PreemptionSearch,
)
from scheduler.engine.kueue.cache.cluster import Cluster
from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import ADMITTED, MISCONFIGURED, QUOTA_RESERVED, is_true
from scheduler.model.releases.release import PENDING
from scheduler.model.sentence import Named, Place, Quantity, Sentence, named, share
from scheduler.words.why import Gate, Short, Why

_STRICT = "StrictFIFO"
_NEVER = "Never"
#: Reasons for which no quota that is released helps.
_NOT_FOR_QUOTA = (MISCONFIGURED, "NoMatchingFlavor", "ExceedsMaxQuota")


def of(answer: Explanation, bars: Iterable[Sentence] = ()) -> list[Sentence]:
    """Return the sentences of an explanation: what keeps it waiting, then its place.

    `bars` are the fields that keep it out whatever quota is free.
    """
    return [
        *_backs_off(answer),  # before what a try of it would find
        *_state(answer),
        *bars,
        *_held(answer),
        *_flavors(answer),
        *_topology(answer),
        *_preemption(answer),
        *_place(answer),
        *_cost(answer),
    ]


def of_slice(cluster: Cluster, work: WorkloadInfo) -> Iterator[Sentence]:
    """Yield sentences on how a slice of an elastic job relates to the other slice.

    Source: docs/semantics/kueue-elastic-jobs.md#scaling-up.
    """
    before, after = cluster.replaced_by(work), cluster.successor_of(work)
    if before is not None and not work.reserved:
        yield Why.REPLACES.said(name=Named(str(before.key)))
    if after is not None and work.reserved:
        yield Why.GROWS.said(name=Named(str(after.key)))


def of_variants(cluster: Cluster, work: WorkloadInfo) -> Iterator[Sentence]:
    """Yield sentences on how a Workload and its variants relate.

    Source: docs/semantics/kueue-concurrent-admission.md#parent-and-variants.
    """
    queue = cluster.cluster_queue_of(work)
    if cluster.families is None or queue is None or not queue.spec.groups:
        return
    if work.parent is not None:
        yield Why.VARIANT_OF.said(name=Named(str(work.parent)), flavor=work.flavor)
    elif cluster.is_parent(work):
        for variant in cluster.families.variants(
            work.key, queue.spec.groups[0].flavors
        ):
            yield Why.VARIANT.said(
                name=Named(str(variant.key)),
                flavor=variant.flavor,
                state=_stands(variant),
            )


def _stands(variant: WorkloadInfo) -> Sentence | str:
    """Return where a variant stands, in its own condition's words."""
    if not variant.active:
        return Why.VARIANT_INACTIVE.said()
    if variant.has_condition(ADMITTED):
        return Why.VARIANT_ADMITTED.said()
    known = variant.conditions.get(QUOTA_RESERVED)
    return Why.VARIANT_UNTRIED.said() if known is None else known.message


def _topology(answer: Explanation) -> Iterator[Sentence]:
    if answer.state in ("pending", "requeued"):
        yield from (s.said for s in answer.topology if s.said and not s.empty)


def _backs_off(answer: Explanation) -> Iterator[Sentence]:
    """Yield until when it is not tried, whatever quota is free."""
    until = answer.waiting.not_before_ms if answer.waiting is not None else None
    if until is not None and until > answer.at_ms:
        yield Why.NOT_BEFORE.said(seconds=until / 1000)


def _state(answer: Explanation) -> Iterator[Sentence]:
    attempt = answer.attempt
    if not attempt.ran:
        yield Why.NOT_TRIED.said(why=attempt.said or attempt.message)
        return
    match attempt.status:
        case "admitted":
            yield Why.ADMITTED.said()
        case "preempting":
            yield Why.PREEMPTS.said(names=named(v.workload for v in attempt.targets))
        case "skipped":
            text = attempt.message
            yield Why.SKIPPED.said(message=f"{text[:1].lower()}{text[1:]}")
        case _ if attempt.reason == MISCONFIGURED:
            yield Why.MISCONFIGURED.said(message=attempt.message)
        case _ if attempt.reason == PENDING:  # which says no more than that it waits
            yield Why.WAITS.said()
        case _:
            yield Why.WAITS_AS.said(reason=attempt.reason)


def _held(answer: Explanation) -> Iterator[Sentence]:
    """Yield what keeps it from being tried, whatever quota is free."""
    waiting = answer.waiting
    if waiting is None:
        return
    if waiting.position > 1 and waiting.strategy == _STRICT:
        place, of = Place(waiting.position), waiting.of
        first = Named(waiting.ahead[0]) if not waiting.more_ahead else Why.HEAD.said()
        yield Why.STRICT.said(place=place, of=of, head=first)
    elif _is_for_no_quota(answer):
        yield Why.NOT_FOR_QUOTA.said()


def _is_for_no_quota(answer: Explanation) -> bool:
    return answer.attempt.ran and answer.attempt.reason in _NOT_FOR_QUOTA


def _place(answer: Explanation) -> Iterator[Sentence]:
    """Yield where in its queue it waits, and what brings it back."""
    waiting = answer.waiting
    if waiting is None:
        return
    if waiting.position > 1:
        if waiting.strategy != _STRICT:
            place, behind = Place(waiting.position), Named(waiting.ahead[-1])
            yield Why.BEHIND.said(place=place, of=waiting.of, name=behind)
    elif waiting.inadmissible and not _is_for_no_quota(answer):
        yield Why.SET_ASIDE.said()


def _flavors(answer: Explanation) -> Iterator[Sentence]:
    if answer.state not in ("pending", "requeued"):
        return
    for row in answer.flavors:
        found = _flavor(row)
        if found is not None:
            yield found
        yield from row.limits


def _flavor(row: FlavorRow) -> Sentence | None:
    asked = Quantity(row.resource, row.requested)
    match row.verdict:
        case "barred":
            return Short.BARRED.said(flavor=row.flavor, reason=row.reason)
        case "uncovered":
            return Short.UNCOVERED.said(asked=asked, resource=row.resource)
        case "fit" | "notTried":
            return None
        case _:
            return _short(row, asked)


def _short(row: FlavorRow, asked: Quantity) -> Sentence:
    free = Quantity(row.resource, row.available)
    short = Quantity(row.resource, row.shortfall)
    if int(row.requested) <= int(row.potential):
        return Short.SHORT.said(flavor=row.flavor, asked=asked, free=free, short=short)
    most = Quantity(row.resource, row.potential)
    return Short.NEVER.said(
        flavor=row.flavor, asked=asked, free=free, most=most, short=short
    )


def _preemption(answer: Explanation) -> Iterator[Sentence]:
    if answer.decisive is None:
        yield from _not_tried(answer)
        return
    search = answer.searches[answer.decisive]
    if not search.targets:
        yield _nobody(search)
        yield from _gates(search, _own_queue(answer), answer.priority)


def _cost(answer: Explanation) -> Iterator[Sentence]:
    cost = answer.cost
    if answer.decisive is not None and cost.looked:
        yield Short.COST.said(
            n=cost.searches, looked=cost.looked, simulations=cost.simulations
        )


#: Fields that are named of one search.
_MOST_GATES = 4


def _gates(search: PreemptionSearch, queue: str, priority: int) -> list[Sentence]:
    """Return the fields, with their values, that keep holders from being preempted."""
    found = [*_of_sources(search, queue, priority), *_of_refusals(search, queue)]
    return found[:_MOST_GATES]


def _of_sources(
    search: PreemptionSearch, queue: str, priority: int
) -> Iterator[Sentence]:
    never = 0
    for source in search.sources:
        n, holder, policy = source.holders, source.queue, source.policy
        if source.candidates or not n:
            continue
        if source.code == "reclaimNever":
            never += n
        elif source.code == "withinNominal":
            yield Gate.WITHIN_NOMINAL.said(n=n, holder=holder)
        elif source.relation == "same" and policy == _NEVER:
            yield Gate.WITHIN_NEVER.said(n=n, queue=queue)
        elif source.relation == "same":
            yield Gate.WITHIN_PRIORITY.said(
                n=n, queue=queue, policy=policy, priority=priority
            )
        elif not source.code:
            yield Gate.RECLAIM_PRIORITY.said(
                n=n, holder=holder, queue=queue, policy=policy, priority=priority
            )
    if never:
        yield Gate.RECLAIM_NEVER.said(n=never, queue=queue)


def _of_refusals(search: PreemptionSearch, queue: str) -> Iterator[Sentence]:
    """Yield one sentence for each sort of refusal, by its first candidate."""
    seen = set()
    for step in search.steps:
        test = step.test
        if step.verdict != "refused" or test is None or step.workload is None:
            continue
        sort = (test.kind, test.threshold, test.below is None, step.rule)
        if sort in seen:
            continue
        seen.add(sort)
        name = Named(step.workload)
        if test.kind == "share":
            after = test.rule == 0 and test.preemptor_share is not None
            theirs = test.target_share_after if after else test.target_share_before
            yield Gate.SHARE.said(
                name=name,
                holder=step.queue,
                rule=step.rule,
                queue=queue,
                ours=share(test.preemptor_share),
                theirs=share(theirs),
            )
        elif test.below is None:
            yield Gate.BORROW_NEVER.said(queue=queue)
        elif test.threshold is not None:
            yield Gate.THRESHOLD.said(
                name=name,
                priority=test.priority or 0,
                queue=queue,
                value=test.threshold,
            )
        else:
            yield Gate.BORROW_PRIORITY.said(
                name=name, priority=test.priority or 0, queue=queue, below=test.below
            )


def _nobody(search: PreemptionSearch) -> Sentence:
    looked = [step for step in search.steps if step.kind == "candidate"]
    if not looked:
        holders = sum(source.holders for source in search.sources)
        return Short.NOBODY_GOES.said(n=holders)
    refused = {step.workload for step in looked if step.verdict == "refused"}
    taken = {step.workload for step in looked if step.verdict == "taken"}
    words = Short.NOT_ENOUGH if taken else Short.ALL_REFUSED
    return words.said(n=len(refused | taken))


def _own_queue(answer: Explanation) -> str:
    return next((n.name for n in answer.chain if n.kind == "ClusterQueue"), "")


def _not_tried(answer: Explanation) -> Iterator[Sentence]:
    """Say why no search was made for victims although quota is short."""
    for row in answer.flavors:
        if row.verdict == "noFit" and int(row.requested) <= int(row.potential):
            yield Short.NO_BORROWING.said(
                flavor=row.flavor,
                asked=Quantity(row.resource, row.requested),
                nominal=Quantity(row.resource, row.chain[0].nominal),
                queue=_own_queue(answer),
            )


# ------------------------------------------------------------------------
# Which Workload is meant by a name that a person knows: its own, or that of its job.


_WORKLOAD = "Workload"


def meant(world: World, key: Key) -> Key | None:
    """Return the key of the object that is asked about; None where there is none.

    An object of this very key comes first. Else it is the Workload of the owner with this
    namespace and name: of any kind for a Workload's key, of the key's kind for another.
    Of several Workloads of one owner it is one that has not ended. O(objects).
    """
    if key.kind in ("Pod", _WORKLOAD) and key in world.objects:
        return key
    found = [
        one
        for one in _owned(world, key.kind, key.name)
        if one.key.namespace == key.namespace
    ]
    if not found:
        return key if key in world.objects else None
    return min(found, key=_ended).key


def named_object(world: World, name: str) -> Key | None:
    """Return the Workload of `NAME`, `NAMESPACE/NAME`, `job/NAME` or `job/NAMESPACE/NAME`.

    As `meant`; a name without namespace is looked for in all of them. O(objects).
    """
    kind, rest = _WORKLOAD, name
    head, slash, tail = name.partition("/")
    if slash and head.lower() == "job":
        kind, rest = "Job", tail
    namespace, slash, own = rest.rpartition("/")
    found = [
        *(
            obj
            for key, obj in world.objects.items()
            if key.kind == _WORKLOAD and key.name == own and kind == _WORKLOAD
        ),
        *_owned(world, kind, own),
    ]
    found = [one for one in found if not slash or one.key.namespace == namespace]
    return min(found, key=_ended).key if found else None


def _owned(world: World, kind: str, name: str) -> Iterator[Object]:
    for key, obj in world.objects.items():
        if key.kind != _WORKLOAD:
            continue
        for owner in obj.metadata.get("ownerReferences") or ():
            if owner.get("name") == name and kind in (_WORKLOAD, owner.get("kind")):
                yield obj
                break


def _ended(obj: Object) -> tuple[bool, Key]:
    return is_true(obj.status, "Finished"), obj.key
