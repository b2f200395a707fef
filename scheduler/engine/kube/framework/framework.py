"""A profile at work: runs the plug-ins of each point in order, keeps no pod."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.framework.plugin import Plugin
from scheduler.engine.kube.framework.status import OK, Code, CycleState, Status
from scheduler.model.kube.profiles import Profile
from scheduler.model.pod import Pod


@dataclass(frozen=True, slots=True, kw_only=True)
class PreFilterResult:
    """What PreFilter came to: a status, and the only nodes to look at."""

    status: Status
    names: frozenset[str] | None = None
    narrowed_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PluginCall:
    """One call of a plug-in, as a trace gets it."""

    point: str
    plugin: str
    pod: Pod
    status: Status
    node: str = ""
    wait_ms: int = 0


class Framework:
    """The plug-ins of one profile, by point, in their order.

    Source: docs/semantics/kube-scheduler.md#extension-points.
    """

    @classmethod
    def of_profile(
        cls, profile: Profile, handle: Any, make: Callable[[str], type[Plugin]]
    ) -> Framework:
        """Return the profile at work; every plug-in is made once."""
        made: dict[str, Plugin] = {}
        for name in dict.fromkeys(
            n for names in profile.points.values() for n in names
        ):
            kind = make(name)
            made[name] = kind(profile.args.get(name) or kind.args_type(), handle)
        points = {
            point: [made[name] for name in names]
            for point, names in profile.points.items()
        }
        points["unreserve"] = points["reserve"]
        return cls(
            scheduler_name=profile.scheduler_name,
            percentage=profile.percentage,
            points=points,
            weights=profile.weights,
        )

    def __init__(
        self,
        *,
        scheduler_name: str,
        percentage: int,
        points: dict[str, list[Plugin]],
        weights: dict[str, int],
    ) -> None:
        self.scheduler_name = scheduler_name
        self.percentage = percentage  # of nodes to score; 0: by cluster size
        self.points = points
        self.weights = weights
        self.filters = points["filter"]
        self.scorers = points["score"]
        self._without_claims = {
            point: [p for p in plugins if not p.for_claims]
            for point, plugins in points.items()
        }
        self._particular = [
            p
            for p in self._without_claims["pre_filter"]
            if p.scope == "cluster" and "pre_filter" in p.points
        ]
        self._claim_filters = {p.name for p in points["pre_filter"] if p.for_claims}
        seen = {id(p): p for plugins in points.values() for p in plugins}
        self.plugins = {plugin.name: plugin for plugin in seen.values()}
        #: gets every call outside Filter and Score; None in normal runs
        self.trace: Callable[[PluginCall], None] | None = None
        self._moved = [
            p
            for p in points["pre_filter"]
            if type(p).add_pod is not Plugin.add_pod
            or type(p).remove_pod is not Plugin.remove_pod
        ]

    def add_scorer(self, plugin: Plugin, weight: int) -> None:
        """Score with one more plug-in, which no profile names."""
        self.scorers.append(plugin)
        self.plugins[plugin.name] = plugin
        self.weights = {**self.weights, plugin.name: weight}

    def _for(self, point: str, pod: Pod) -> list[Plugin]:
        """Return the plug-ins of a point that a pod concerns; all in a trace."""
        shape = pod.shape
        if shape.claims or shape.device_claims or self.trace is not None:
            return self.points[point]
        return self._without_claims[point]

    def note(
        self,
        point: str,
        plugin: Plugin,
        pod: Pod,
        status: Status,
        node: str = "",
        wait_ms: int = 0,
    ) -> None:
        """Report a call to the trace, when there is one."""
        if self.trace is not None:
            self.trace(PluginCall(point, plugin.name, pod, status, node, wait_ms))

    # --- queue

    def pre_enqueue(self, pod: Pod) -> Status:
        """Return the first refusal to let the pod into the active queue."""
        for plugin in self._for("pre_enqueue", pod):
            status = plugin.pre_enqueue(pod)
            if not status.ok:
                return status.by(plugin.name)
        return OK

    # --- filter

    def prepares_alike(self, pod: Pod) -> bool:
        """Return whether PreFilter says the same of each pod of this shape and priority."""
        if pod.shape.claims or pod.shape.device_claims:
            return False
        return all(plugin.prepares_alike(pod) for plugin in self._particular)

    def pre_filter(self, state: CycleState, pod: Pod) -> PreFilterResult:
        """Run PreFilter. An Unschedulable lets the others run, then counts."""
        names: frozenset[str] | None = None
        narrowed: list[str] = []
        refused: Status | None = None
        plugins = self._for("pre_filter", pod)
        if len(plugins) < len(self.points["pre_filter"]):
            state.skip_filter |= self._claim_filters
        for plugin in plugins:
            status, only = plugin.pre_filter(state, pod)
            self.note("PreFilter", plugin, pod, status)
            if status.code is Code.SKIP:
                state.skip_filter.add(plugin.name)
                continue
            if status.code is Code.UNSCHEDULABLE:
                refused = refused or status.by(plugin.name)
                continue
            if not status.ok:
                return PreFilterResult(status=status.by(plugin.name))
            if only is not None:
                narrowed.append(plugin.name)
                names = only if names is None else names & only
                if not names:
                    return PreFilterResult(status=_none_left(narrowed), names=names)
        return PreFilterResult(
            status=refused or OK, names=names, narrowed_by=tuple(narrowed)
        )

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Return the first rejection of the node, or success."""
        for plugin in self.filters:
            if plugin.name in state.skip_filter:
                continue
            status = plugin.filter(state, pod, node_info)
            if not status.ok:
                return status.by(plugin.name)
        return OK

    def filter_with(
        self, state: CycleState, pod: Pod, node_info: NodeInfo, rivals: list[Pod]
    ) -> Status:
        """Filter with the nominated rivals on the node, and without them."""
        if rivals:
            crowded, copy = state.copy(), node_info.copy()
            for rival in rivals:
                self.add_pod(crowded, pod, rival, copy)
            status = self.filter(crowded, pod, copy)
            if not status.ok:
                return status
        return self.filter(state, pod, node_info)

    def add_pod(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo
    ) -> None:
        """Put a pod on a copied node and keep the PreFilter state right."""
        node_info.add(other)
        for plugin in self._moved:
            if plugin.name not in state.skip_filter:
                plugin.add_pod(state, pod, other, node_info)

    def remove_pod(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo
    ) -> None:
        """Take a pod off a copied node and keep the PreFilter state right."""
        node_info.remove(other)
        for plugin in self._moved:
            if plugin.name not in state.skip_filter:
                plugin.remove_pod(state, pod, other, node_info)

    # --- binding

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status:
        """Run Reserve; at the first failure give back all that was taken."""
        for plugin in self._for("reserve", pod):
            status = plugin.reserve(state, pod, node)
            if not status.ok:
                self.unreserve(state, pod, node)
                return status.by(plugin.name)
        return OK

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Give back, in reverse order."""
        for plugin in reversed(self._for("unreserve", pod)):
            plugin.unreserve(state, pod, node)
            self.note("Unreserve", plugin, pod, OK, node)

    def permit(
        self, state: CycleState, pod: Pod, node: str
    ) -> tuple[Status, dict[str, int]]:
        """Run Permit; return a refusal, or the plug-ins that make the pod wait, and how long."""
        waits: dict[str, int] = {}
        for plugin in self.points["permit"]:
            status, wait_ms = plugin.permit(state, pod, node)
            self.note("Permit", plugin, pod, status, node, wait_ms)
            if status.code is Code.WAIT:
                waits[plugin.name] = wait_ms
            elif not status.ok:
                return status.by(plugin.name), {}
        return (Status(Code.WAIT) if waits else OK), waits

    def bind(self, state: CycleState, pod: Pod, node: str) -> Status:
        """Run PreBind, then the binders until one does not skip."""
        for plugin in self._for("pre_bind", pod):
            status = plugin.pre_bind(state, pod, node)
            if not status.ok and status.code is not Code.SKIP:
                return status.by(plugin.name)
        for plugin in self.points["bind"]:
            status = plugin.bind(state, pod, node)
            if status.code is not Code.SKIP:
                return status.by(plugin.name)
        return Status(Code.ERROR, ("no bind plugin took the pod",))

    def post_bind(self, state: CycleState, pod: Pod, node: str) -> None:
        """Run PostBind."""
        for plugin in self.points["post_bind"]:
            plugin.post_bind(state, pod, node)

    # --- state

    def dump_state(self) -> dict[str, Any]:
        """Return the state that the plug-ins must keep."""
        found = {name: p.dump_state() for name, p in sorted(self.plugins.items())}
        return {name: state for name, state in found.items() if state is not None}

    def load_state(self, state: dict[str, Any]) -> None:
        """Give the plug-ins back what they stored."""
        for name, value in state.items():
            if name in self.plugins:
                self.plugins[name].load_state(value)


def _none_left(narrowed: list[str]) -> Status:
    names = ", ".join(narrowed)
    reason = f"node(s) didn't satisfy plugin(s) [{names}] simultaneously"
    if len(narrowed) == 1:
        reason = f"node(s) didn't satisfy plugin {names}"
    return Status(Code.UNRESOLVABLE, (reason,), narrowed[-1])
