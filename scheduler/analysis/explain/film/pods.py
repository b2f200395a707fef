"""A preemption of pods, node by node: under kube-scheduler and under YuniKorn."""

from __future__ import annotations

from scheduler.analysis.explain.film.reel import (
    MOST_STEPS,
    Change,
    Reel,
    amount_of,
    amounts,
    choices_of,
    compared,
    fits,
    main_resource,
)
from scheduler.analysis.explain.shapes import PodPreemption, TriedNode, TriedPod
from scheduler.analysis.explain.shapes.film import Inequality
from scheduler.model.sentence import Hole, Items, Named, Sentence, few, plain
from scheduler.words.film import CostRule, Scene

_RULES = {word.value.rpartition(".")[2]: word for word in CostRule}
_WHY = {
    "doesNotFit": Scene.NOT_ENOUGH,
    "noCandidates": Scene.NOBODY_GOES,
    "refused": Scene.WAS_REFUSED,
}
_KUBE = "kube-scheduler"


def add(reel: Reel, found: PodPreemption) -> None:
    """Add the frames of a preemption of pods to a film. Pure; O(pods tried)."""
    _Maker(reel, found).add()


class _Maker:
    def __init__(self, reel: Reel, found: PodPreemption) -> None:
        self.reel = reel
        self.found = found
        self.resource = main_resource(found.requests)
        self.asked = amount_of(found.requests, self.resource)
        self.shown = 0
        self.full: dict[str, float] = {}  # bar of a node -> what is on its copy now
        self.tried = [n for n in found.nodes if n.pods or n.victims]

    def add(self) -> None:
        """Add all frames."""
        self._set_stage()
        self._setup()
        for node in self.tried:
            self._node(node)
        self._compare()
        self._victims()

    def _set_stage(self) -> None:
        reel, found = self.reel, self.found
        reel.card(
            found.preemptor,
            "head",
            group=found.queue,
            priority=found.priority,
            held=found.requests,
        )
        for node in self.tried:
            reel.bar(f"Node/{node.node}", "Node", resource=self.resource)
            for pod in node.pods:
                reel.card(
                    pod.pod,
                    f"Node/{node.node}",
                    group=pod.queue,
                    priority=pod.priority,
                    held=pod.held,
                )
        for row in found.path:
            if row.guaranteed is not None:
                reel.bar(
                    f"Queue/{row.queue}/{row.resource}",
                    "Queue",
                    name=row.queue,
                    resource=row.resource,
                    used=int(row.used),
                    limit=int(row.guaranteed),
                )

    def _setup(self) -> None:
        found = self.found
        if found.strategy == "RequiredNode":
            said = Scene.ROOM_NODE.said(node=found.node)
        elif found.scheduler == _KUBE:
            helped = sum(node.outcome != "notHelpful" for node in found.nodes)
            said = Scene.ROOM_SAID.said(n=helped, all=found.total_nodes)
        else:
            said = Scene.ROOM_QUEUE.said(queue=found.queue)
        bars = [f"Node/{node.node}" for node in self.tried]
        change = Change(spot=[found.preemptor, *bars], marks=dict.fromkeys(bars, ""))
        self.reel.tell("room", Scene.ROOM.said(), said, change)

    # ---- one node

    def _node(self, node: TriedNode) -> None:
        found, bar = self.found, f"Node/{node.node}"
        title = Scene.NODE.said(node=node.node)
        self.full[bar] = self.reel.bars[bar].used
        said = (
            Scene.DRY_RUN.said()
            if found.scheduler == _KUBE
            else Scene.TRIES.said(missing=amounts(node.missing))
        )
        self.reel.tell("node", title, said, Change(spot=[bar, found.preemptor]))
        late = Change(spot=[bar])
        left = 0
        for pod in node.pods:
            if self.shown >= MOST_STEPS:
                left += 1
                late.marks[pod.pod] = pod.verdict
                continue
            self.shown += 1
            self._pod(node, pod)
        if left:
            more = Scene.MORE.said(n=left)
            self.reel.tell("more", Scene.MORE_TITLE.said(), more, late)
        self._result(node)

    def _pod(self, node: TriedNode, pod: TriedPod) -> None:
        name = Named(pod.pod)
        title = Scene.NODE.said(node=node.node)
        change = Change(spot=[pod.pod], marks={pod.pod: pod.verdict})
        bar = f"Node/{node.node}"
        held = amount_of(pod.held, self.resource)
        if pod.verdict in ("removed", "taken"):
            self.full[bar] -= held
        elif pod.verdict == "spared" and pod.kind == "putBack":
            self.full[bar] += held
        change.used = {bar: max(0.0, self.full[bar])}
        if pod.verdict == "removed":
            change.moves = {pod.pod: "candidates"}
            said = Scene.OFF.said(name=name, held=amounts(pod.held))
            self.reel.tell("pod", title, said, change)
            return
        goes = pod.verdict in ("taken", "needed")
        change.moves = {pod.pod: "gone" if goes else f"Node/{node.node}"}
        if pod.kind == "putBack":
            change.tests = self._back_test(bar, held, goes=goes)
            question = (
                Scene.BUDGET.said(
                    name=name, budgets=Items(tuple(pod.budgets), all=True)
                )
                if pod.budgets
                else Scene.BACK_ASK.said(name=name)
            )
            said = (
                Scene.POD_NEEDED.said(name=name, why=pod.why)
                if goes
                else Scene.POD_SPARED.said(name=name)
            )
        else:
            question = Scene.POD_ASK.said(name=name)
            said = self._ask_verdict(pod, name)
            change.tests = self._missing(bar)
        self.reel.asked(
            "pod",
            title,
            question,
            [Scene.STAYS.said(), Scene.GOES.said()],
            1 if goes else 0,
            said,
            change,
        )

    def _missing(self, bar: str) -> list[Inequality]:
        """Return the question whether it fits by what is free once this one is gone."""
        limit = self.reel.bars[bar].limit
        if limit is None:
            return []
        return [fits(self.resource, self.asked, limit - self.full[bar])]

    def _back_test(self, bar: str, held: float, *, goes: bool) -> list[Inequality]:
        """Return the question of a pod that is put back, where its room is what decides."""
        limit = self.reel.bars[bar].limit
        if limit is None:
            return []
        free = limit - self.full[bar] - (held if goes else 0)
        test = fits(self.resource, self.asked, free)
        return [test] if test.holds is not goes else []

    def _ask_verdict(self, pod: TriedPod, name: Hole) -> Sentence:
        match pod.verdict:
            case "taken":
                return Scene.POD_TAKEN.said(name=name, held=amounts(pod.held))
            case "withinGuarantee":
                return Scene.POD_GUARANTEED.said(name=name, queue=pod.queue)
            case "overAskGuarantee":
                return Scene.POD_OVER.said(name=name)
            case "spared":
                return Scene.POD_ENOUGH.said(name=name)
            case _:
                return Scene.POD_NO_HELP.said(name=name)

    def _result(self, node: TriedNode) -> None:
        """Say what the node comes to; not yet how it stands beside the others."""
        bar = f"Node/{node.node}"
        if node.victims:
            said = Scene.RESULT_GOES.said(
                n=len(node.victims), names=few(Named(key) for key in node.victims)
            )
        else:
            words = _WHY.get(node.outcome)
            why = words.said() if words else plain(node.why)
            said = Scene.RESULT_NOT.said(node=node.node, why=why)
        # The pods stand on their node again: this was a copy.
        moves = {pod.pod: bar for pod in node.pods}
        marks = {
            pod.pod: "needed" if pod.pod in node.victims else "" for pod in node.pods
        }
        marks[bar] = "" if node.victims else "refused"
        title = Scene.RESULT.said(node=node.node)
        used = {bar: self.reel.bars[bar].used}
        self.reel.tell(
            "result",
            title,
            said,
            Change(spot=[bar], moves=moves, marks=marks, used=used),
        )

    # ---- the nodes beside one another

    def _compare(self) -> None:
        left = [n for n in self.found.nodes if n.outcome in ("chosen", "lost")]
        for rule in self.found.rules:
            if len(left) <= 1:
                break
            left = self._rule(rule, left)
        if len(left) > 1:
            seeded = self.found.scheduler == _KUBE
            words = Scene.DRAW_SEED if seeded else Scene.DRAW_ORDER
            self._choose(
                "draw",
                Scene.DRAW.said(),
                Scene.VICTIMS_ASK.said(),
                (left, self.found.node),
                words.said(node=self.found.node),
                Change(spot=[f"Node/{node.node}" for node in left]),
            )

    def _rule(self, rule: str, left: list[TriedNode]) -> list[TriedNode]:
        costs = {node.node: _cost(node, rule) for node in left}
        least = min(costs.values())
        kept = [node for node in left if costs[node.node] == least]
        out = [node.node for node in left if node not in kept]
        words = _RULES[rule].said() if rule in _RULES else plain(rule)
        for node in left:
            self.reel.bar(f"cost/{rule}/{node.node}", "Cost", name=node.node)
        used = {f"cost/{rule}/{name}": float(value) for name, value in costs.items()}
        change = Change(
            spot=[f"Node/{node.node}" for node in left],
            marks={f"Node/{name}": "lost" for name in out},
            used=used,
            tests=_against(costs),
        )
        title, names = Scene.RULE.said(rule=words), few(node.node for node in kept)
        said = (
            Scene.RULE_LEFT.said(left=names, out=few(out))
            if out
            else Scene.RULE_EQUAL.said()
        )
        question = Scene.RULE_ASK.said(rule=words)
        if len(kept) == 1:
            self._choose("rule", title, question, (left, kept[0].node), said, change)
        else:
            self.reel.tell("rule", title, said, change)
        return kept

    def _choose(
        self,
        kind: str,
        title: Sentence,
        question: Sentence,
        among: tuple[list[TriedNode], str],
        said: Sentence,
        change: Change,
    ) -> None:
        """Ask which of the nodes it is; a test that names it comes with the answer."""
        nodes, right = among
        choices = choices_of(right, (node.node for node in nodes))
        shown = Change(spot=change.spot)
        texts = [plain(name) for name in choices]
        self.reel.ask(kind, title, question, texts, choices.index(right), shown)
        self.reel.tell(kind, title, said, change)

    def _victims(self) -> None:
        found = self.found
        victims = [target.workload for target in found.targets]
        self.reel.tell(
            "verdict",
            Scene.VICTIMS.said(),
            Scene.LEAVE.said(
                names=few(Named(key) for key in victims),
                node=found.node,
                name=Named(found.preemptor),
            ),
            Change(
                spot=[*victims, found.preemptor],
                moves=dict.fromkeys(victims, "line"),
                marks={
                    **dict.fromkeys(victims, "needed"),
                    f"Node/{found.node}": "chosen",
                },
            ),
        )


def _cost(node: TriedNode, rule: str) -> int:
    return next((cost.value for cost in node.costs if cost.rule == rule), 0)


def _against(costs: dict[str, int]) -> list[Inequality]:
    """Return the two nodes that differ most as a question, where any do."""
    first = min(costs, key=lambda name: costs[name])
    last = max(costs, key=lambda name: costs[name])
    if costs[first] == costs[last]:
        return []
    return [compared(first, costs[first], "<", last, costs[last])]
