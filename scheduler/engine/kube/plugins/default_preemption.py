"""DefaultPreemption: makes room by removing pods of lower priority."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import msgspec

from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import Candidate, Hint, Plugin
from scheduler.engine.kube.framework.status import (
    OK,
    CycleState,
    Status,
    Verdicts,
    counted,
    unschedulable,
)
from scheduler.engine.kube.preemption.dry_run import (
    NEVER,
    NO_VICTIMS,
    NOT_HELPFUL,
    TERMINATING,
    DryRun,
    TracedSearch,
    VictimSearch,
    wanted_candidates,
)
from scheduler.model import streams
from scheduler.model.pod import Pod
from scheduler.model.registry import register


class DefaultPreemptionArgs(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """How many candidate nodes are enough."""

    api_version: str = ""
    kind: str = ""
    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100


@register(
    "plugin",
    "DefaultPreemption",
    label="Preemption",
    help="When no node is feasible, removes pods of lower priority from the node "
    "where that does the least harm, and nominates it.",
    parameters=DefaultPreemptionArgs,
)
class DefaultPreemption(Plugin):
    """Nominates, never binds.

    Source: docs/semantics/kube-scheduler.md#default-preemption.
    """

    name = "DefaultPreemption"
    args_type = DefaultPreemptionArgs
    # The request to remove victims takes no virtual time: nobody is held back.
    idle_points: ClassVar[tuple[str, ...]] = ("pre_enqueue",)
    #: An explanation gets every search here; nothing else sets it.
    trace: list[TracedSearch] | None = None

    def preemption(self) -> VictimSearch:
        """Return the search over the cluster as it is now."""
        handle = self.handle
        kind = VictimSearch if self.trace is None else TracedSearch
        search = kind(
            handle.framework,
            handle.cluster,
            handle.nominations,
            now_us=handle.context.now_us,
        )
        if self.trace is not None and isinstance(search, TracedSearch):
            self.trace.append(search)
        return search

    def fails_alike(self) -> bool:
        """Without victims the sentence counts nodes; an explanation wants each search."""
        return self.trace is None

    def post_filter(
        self, state: CycleState, pod: Pod, verdicts: Verdicts
    ) -> tuple[Status, str | None]:
        """Find the victims that do the least harm, remove them, nominate."""
        refusal = self.refusal(pod, verdicts)
        if refusal:
            return unschedulable(f"preemption: {refusal}"), None
        search = self.preemption()
        if search.is_vain(pod):
            run = DryRun(without_victims=len(verdicts.helpable()))
        else:
            run = self.dry_run(search, state, pod, verdicts)
        candidates = self.handle.ask_extenders(pod, run.candidates)
        if not candidates:
            return unschedulable(f"preemption: {self._why(verdicts, run)}"), ""
        chosen = self._choose(search, pod, candidates)
        for victim in chosen.victims:
            self.handle.evict(victim, chosen.node, pod, self.name)
        # Take the nomination from lesser pods that were promised this node.
        for other in self.handle.nominations.on(chosen.node):
            if other.priority < pod.priority:
                self.handle.clear_nomination(other)
        return OK, chosen.node

    def refusal(self, pod: Pod, verdicts: Verdicts) -> str:
        """Return why the pod may not preempt, "" when it may."""
        if pod.shape.never_preempts:
            return NEVER
        node = self.handle.nominations.node(pod.key) or pod.nominated
        node_info = self.handle.cluster.node_infos.get(node)
        if (
            node_info is None
            or verdicts.node_table.node_infos[node_info.row] is not node_info
        ):
            return ""
        if verdicts.rejected is None and verdicts.codes[node_info.row] == 2:
            return ""
        leaving = any(
            other.disrupted and other.priority < pod.priority
            for other in node_info.pods.values()
        )
        return TERMINATING if leaving else ""

    def dry_run(
        self, search: VictimSearch, state: CycleState, pod: Pod, verdicts: Verdicts
    ) -> DryRun:
        """Try the nodes where removing pods may help, from a drawn start."""
        rows = verdicts.helpable()
        names = [verdicts.node_table.names[row] for row in rows.tolist()]
        if isinstance(search, TracedSearch):
            search.note_verdicts(verdicts, set(names))
        if not names:
            return DryRun()
        args = self.args
        wanted = wanted_candidates(
            len(names),
            args.min_candidate_nodes_percentage,
            args.min_candidate_nodes_absolute,
        )
        start = self._draw(pod, "kube/preemption/start", len(names))
        return search.try_nodes(state, pod, names[start:] + names[:start], wanted)

    def _draw(self, pod: Pod, purpose: str, among: int) -> int:
        context = self.handle.context
        return streams.choose(
            context.seed, purpose, pod.uid or str(pod.key), context.now_ms, among=among
        )

    def _choose(
        self, search: VictimSearch, pod: Pod, candidates: list[Candidate]
    ) -> Candidate:
        tied = sorted(search.least_harm(candidates), key=lambda c: c.node)
        return tied[self._draw(pod, "kube/preemption/tie", len(tied))]

    def _why(self, verdicts: Verdicts, run: DryRun) -> str:
        """Return the sentence of a search that found nothing."""
        size = verdicts.node_table.size
        counts = Counter[str]()
        statuses = {id(status): status for status in run.failed.values()}
        for one, nodes in Counter(map(id, run.failed.values())).items():
            for reason in statuses[one].reasons:
                counts[reason] += nodes
        if run.without_victims:
            counts[NO_VICTIMS] = run.without_victims
        rest = size - len(run.failed) - run.without_victims
        if rest:
            counts[NOT_HELPFUL] = rest
        return f"0/{size} nodes are available: {counted(counts)}."

    def hints(self) -> dict[str, Hint | None]:
        """A preemptor is tried again when one of its victims is gone."""
        return {plugin.POD_DELETED: None}
