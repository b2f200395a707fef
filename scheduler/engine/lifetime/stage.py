"""The stage that gives objects their time: it starts, ends and loses runs."""

from __future__ import annotations

from scheduler.engine.lifetime.admission import owner_key
from scheduler.engine.lifetime.advancing import OWNERS, RANK
from scheduler.engine.lifetime.controllers.stage import DEPLOYMENT
from scheduler.engine.lifetime.jobs.given import give_default_labels, is_covered
from scheduler.engine.lifetime.jobs.workloads import WORKLOAD_CLASS
from scheduler.engine.lifetime.restoring import Restoring
from scheduler.engine.lifetime.runs import Due
from scheduler.engine.lifetime.runtime_state import JOB_KINDS, NODE, POD
from scheduler.engine.lifetime.starting import STATEFUL_SET
from scheduler.model.kueue.configuration import Settings
from scheduler.model.objects import Key, Object

_MANAGED = frozenset({*JOB_KINDS, POD})


class Lifetime(Restoring):
    """Arrivals, starts, run time, endings, lost pods and nodes.

    Kueue (or nothing, under the other stacks) says what may run; the placing
    stage says where; this says for how long.
    """

    def put(self, obj: Object, *, restore: bool = False) -> None:
        """Take an object; its time begins at the next instant that is handled."""
        if restore:
            self._restore(obj)
        elif obj.key.kind in RANK:
            self.fresh[obj.key] = None
            if obj.key.kind == NODE:
                if obj.key not in self.nodes:
                    self.nodes.add(obj.key)
                    self.node_came(obj.key.name)
                if self.failures is not None:
                    self.failures.begin(obj)
            if obj.key.kind == "Job":
                self.job_stage.resume_suspended(obj)
        self.job_stage.note(obj)
        if obj.key.kind == "ResourceQuota" and not restore:
            self.job_stage.quotas.warn(obj)
        if obj.key.kind == WORKLOAD_CLASS and not restore:
            self.job_stage.class_changed(obj)

    def edited(self, obj: Object, before: Object) -> None:
        """Let pods of another template than before take the place of others, and grow."""
        if before.spec.get("suspend") and obj.spec.get("suspend") is False:
            self.job_stage.resume_waiting(obj)
        template, other = obj.spec.get("template"), before.spec.get("template")
        if obj.key.kind == DEPLOYMENT:
            self.job_stage.controllers.replicas_changed(obj, before)
        if template == other:
            return
        if obj.key.kind == DEPLOYMENT:
            self.job_stage.controllers.template_changed(obj, before)
        elif obj.key.kind == STATEFUL_SET:
            self.job_stage.roll_set(obj)

    def prepare(self, obj: Object) -> None:
        """Fill into a new object what the API server's admission would."""
        kueue = self.host.kueue
        if kueue is not None and self._may_be_managed(obj, kueue.settings):
            classes = kueue.settings.gates.default_priority_class
            give_default_labels(obj, self.host.objects, classes=classes)
            if obj.key.kind == "JobSet":
                _drop_zeros(obj)
        if obj.key.kind == POD:
            self.job_stage.prepare_pod(obj)

    def _may_be_managed(self, obj: Object, settings: Settings) -> bool:
        """Return whether Kueue manages such a job or pod itself, not its owner."""
        if obj.key.kind not in _MANAGED:
            return False
        if obj.spec.get("nodeName") or owner_key(obj, OWNERS) is not None:
            return False
        return is_covered(obj.key.namespace, settings, self.host.objects)

    def remove(self, key: Key) -> None:
        """Forget an object; what ran for it stops, what was made for it goes."""
        self.future.pop(key, None)
        self.fresh.pop(key, None)
        self.used[str(key)] = self.used.get(str(key), 0) + 1
        if key.kind == NODE:
            self.nodes.discard(key)
            self.pressure.forget(key)
            if self.failures is not None:
                self.failures.forget(key)
            self.orphan_pods(key.name)
        self._forget_run(key)
        owner = self.owners.pop(key, None)
        self.free_node(key)
        self.leaving.pop(key, None)
        self.terminating.pop(key, None)
        self.expiring.pop(key, None)
        self.failed.pop(key, None)
        self.older.pop(key, None)
        self.orphaned.pop(key, None)
        if owner is not None and owner != key:
            self._pod_gone(owner, key)
        self.arrived.discard(key)

    def arrival_of(self, obj: Object) -> int:
        """Return when the object comes, no earlier than now."""
        span = self.timing(obj).arrival
        now = self.context.now_ms
        if span is None:
            return now
        return max(now, span.draw(self.context.seed, "arrival", str(obj.key)))

    def holds_back(self, obj: Object) -> bool:
        """Return whether the object waits for its time; sets its timer if it does."""
        key = obj.key
        if key in self.arrived or key.kind not in RANK:
            return False
        at = self.arrival_of(obj)
        if at <= self.context.now_ms:
            self.future.pop(key, None)
            return False
        self.future[key] = at
        self.timers.add(at, Due.ARRIVAL, key)
        return True

    def waits(self, key: Key) -> bool:
        """Return whether the object has not arrived yet."""
        return key in self.future


def _drop_zeros(job_set: Object) -> None:
    """Let replicated jobs of 0 replicas have the default, which is 1.

    Source: docs/semantics/kueue-jobs.md#jobset.
    """
    given = job_set.spec.get("replicatedJobs") or ()
    if any(one.get("replicas") == 0 for one in given):
        jobs = [
            {n: v for n, v in one.items() if n != "replicas" or v != 0} for one in given
        ]
        job_set.manifest["spec"] = {**job_set.spec, "replicatedJobs": jobs}
