"""Kueue's check controller: requests out, states of checks in.

Source: docs/semantics/capacity.md#provisioningrequests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.engine.provisioning.request import (
    TEMPLATE,
    documents,
    names_managed,
    parameters_of,
    request_name,
    state_of,
)
from scheduler.engine.stage import Context
from scheduler.model.admission_check import (
    PROVISIONING,
    AdmissionCheck,
    read_admission_check,
)
from scheduler.model.autoscaling.group_spec import (
    CONFIG,
    REQUEST,
    RequestConfig,
    read_config,
)
from scheduler.model.decisions import NodeChange
from scheduler.model.kueue.check_state import PENDING, READY, CheckState
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import condition

if TYPE_CHECKING:
    from scheduler.engine.kueue.stage import KueueStage

NOT_NEEDED = "the provisioning request is not needed"
NOT_ACTIVE = "the check is not active"
BAD_PARAMETERS = "BadParametersRef"


class RequestHost(Protocol):
    """A world, as this controller sees it."""

    objects: dict[Key, Object]
    kueue: KueueStage | None

    def put(self, obj: Object) -> Object:
        """Take a new object."""

    def delete(self, key: Key) -> None:
        """Remove an object."""


class RequestController:
    """Makes a request for each reservation whose check asks for one, and reads it.

    A check is this controller's if no rule of the policy answers it; without its
    config it is inactive. It keeps nothing: requests and checks say everything.
    """

    def __init__(self, context: Context, host: RequestHost) -> None:
        self.context = context
        self.host = host
        self.configs: dict[str, RequestConfig] = {}
        self.checks: dict[str, AdmissionCheck] = {}
        self.requests: set[Key] = set()

    def answers(self, name: str) -> bool:
        """Return whether this controller answers a check, and no rule does."""
        kueue, check = self.host.kueue, self.checks.get(name)
        if kueue is None or check is None or name in kueue.answers.rules:
            return False
        return (check.controller, check.parameters[0]) == (PROVISIONING, CONFIG)

    def put(self, obj: Object) -> None:
        """Take a check, a config or a request."""
        if obj.key.kind == CONFIG:
            self.configs[obj.key.name] = read_config(obj.spec)
        elif obj.key.kind == REQUEST:
            self.requests.add(obj.key)
        elif obj.key.kind == "AdmissionCheck":
            check = read_admission_check(obj.manifest, obj.status)
            self.checks[check.name] = check
        self._arm_rules(obj.key)

    def remove(self, key: Key) -> None:
        """Forget what is gone."""
        if key.kind == CONFIG:
            self.configs.pop(key.name, None)
        elif key.kind == "AdmissionCheck":
            self.checks.pop(key.name, None)
        self.requests.discard(key)
        self._arm_rules(key)

    def _arm_rules(self, key: Key) -> None:
        """Let rules answer what this controller, after a change, no longer does."""
        kueue = self.host.kueue
        if kueue is not None and key.kind in (CONFIG, "AdmissionCheck"):
            for work in kueue.cluster.workloads.values():
                kueue.answers.arm(work)

    # -- one instant -------------------------------------------------------

    def reconcile(self) -> bool:
        """Bring requests and checks together; return whether a check changed.

        Cost: the workloads with quota in ClusterQueues that name such a check.
        """
        kueue = self.host.kueue
        if kueue is None:
            return False
        self._clean_up(kueue)
        if not any(map(self.answers, self.checks)):
            return False
        changed = self._write_checks(kueue)
        for work, name in [*self._asked(kueue)]:
            changed |= self._reconcile_check(kueue, work, name)
        return changed

    def _write_checks(self, kueue: KueueStage) -> bool:
        """Say of each check whether its config is there; return whether that changed."""
        changed = False
        for name in sorted(filter(self.answers, self.checks)):
            config = self.checks[name].parameters[1]
            obj = self.host.objects[Key("AdmissionCheck", "", name)]
            known = condition(obj.status, "Active") or {}
            was_missing = known.get("reason") == BAD_PARAMETERS
            if (config not in self.configs) != was_missing:
                found = _active() if was_missing else _inactive(config)
                obj.status["conditions"] = [found]
                self.context.journal.touch(obj.key)
                kueue.put(obj)
                changed = True
        return changed

    def _asked(self, kueue: KueueStage) -> Iterator[tuple[WorkloadInfo, str]]:
        """Yield, in order, who holds quota and the checks of it that are ours."""
        for queue in kueue.cluster.forest.queues.values():
            works = [
                w for w in queue.admitted.workloads if any(map(self.answers, w.checks))
            ]
            for work in sorted(works, key=lambda work: work.key):
                if work.active and not work.evicted and not work.finished:
                    yield from (
                        (work, name) for name in work.checks if self.answers(name)
                    )

    def _clean_up(self, kueue: KueueStage) -> None:
        """Remove the requests of workloads that hold no quota any longer."""
        for key in sorted(self.requests):
            owner = owner_of(self.host.objects[key])
            if owner is None:
                continue
            work = kueue.cluster.workloads.get(owner)
            if work is None or work.finished or work.evicted or not work.reserved:
                self._delete(key)

    def _delete(self, key: Key) -> None:
        for part in self.host.objects[key].spec.get("podSets") or ():
            template = Key(TEMPLATE, key.namespace, part["podTemplateRef"]["name"])
            if template in self.host.objects:
                self.host.delete(template)
        self.host.delete(key)

    def _reconcile_check(
        self, kueue: KueueStage, work: WorkloadInfo, name: str
    ) -> bool:
        config = self.configs.get(self.checks[name].parameters[1])
        known = work.checks[name]
        needed = [] if config is None else self._pod_sets(work, config)
        if config is None:
            if known.state != PENDING:
                return False
            answer = CheckState(state=PENDING, message=NOT_ACTIVE, since_us=0)
        elif not needed:
            answer = CheckState(state=READY, message=NOT_NEEDED, since_us=0)
        else:
            request = self._request(work, name, needed, config)
            answer = state_of(self.context, request, work, name, config)
        if (known.state, known.message) == (answer.state, answer.message):
            return False
        return kueue.answer_check(work.key, name, answer)

    def _request(
        self,
        work: WorkloadInfo,
        name: str,
        pod_sets: list[dict[str, Any]],
        config: RequestConfig,
    ) -> Object:
        """Return the workload's present request, made now if it does not exist."""
        known = work.checks[name]
        attempt = (known.retry_count or 0) + 1
        title = request_name(work.key.name, name, attempt)
        key = Key(REQUEST, work.namespace, title)
        workload = self.host.objects[work.key]
        there = self.host.objects.get(key)
        if there is not None and known.state == PENDING:
            wanted = (config.class_name, parameters_of(workload, config))
            spec = there.spec
            if (spec["provisioningClassName"], spec.get("parameters") or {}) != wanted:
                self._delete(key)
                there = None
        if there is None:
            for obj in documents(workload, title, pod_sets, config):
                there = self.host.put(obj)
            self._say_created(key)
        assert there is not None
        return there

    def _say_created(self, key: Key) -> None:
        self.context.journal.emit(
            NodeChange(
                at_ms=self.context.now_ms,
                subject=key,
                change="requested",
                reason="ProvisioningRequestCreated",
                message=f'Created ProvisioningRequest: "{key.name}"',
            )
        )

    def _pod_sets(
        self, work: WorkloadInfo, config: RequestConfig
    ) -> list[dict[str, Any]]:
        """Return the pod sets to ask for: admitted counts, what their flavors add.

        None of them if none names a managed resource.
        """
        assigned = work.admission.pod_sets if work.admission is not None else ()
        specs = {one.get("name") or "main": one for one in work.pod_set_specs}
        found = []
        for part in assigned:
            if part.count > 0 and part.name in specs:
                flavors = sorted(set(part.flavors.values()))
                found.append(
                    {
                        **specs[part.name],
                        "name": part.name,
                        "count": part.count,
                        **self._of_flavors(flavors),
                    }
                )
        asked = any(names_managed(one, config.managed) for one in found)
        return found if asked else []

    def _of_flavors(self, names: list[str]) -> dict[str, Any]:
        selector: dict[str, str] = {}
        tolerations: list[dict[str, Any]] = []
        for name in names:
            flavor = self.host.objects.get(Key("ResourceFlavor", "", name))
            if flavor is not None:
                selector.update(flavor.spec.get("nodeLabels") or {})
                tolerations += flavor.spec.get("tolerations") or []
        return {"nodeSelector": selector, "tolerations": tolerations}


def owner_of(request: Object) -> Key | None:
    """Return the Workload that a request is for; None if a person made it."""
    for reference in request.metadata.get("ownerReferences") or ():
        if reference.get("kind") == "Workload":
            return Key("Workload", request.key.namespace, str(reference["name"]))
    return None


def _active() -> dict[str, str]:
    message = "The admission check is active"
    return {"type": "Active", "status": "True", "reason": "Active", "message": message}


def _inactive(config: str) -> dict[str, str]:
    return {
        "type": "Active",
        "status": "False",
        "reason": BAD_PARAMETERS,
        "message": f'{CONFIG}.kueue.x-k8s.io "{config}" not found',
    }
