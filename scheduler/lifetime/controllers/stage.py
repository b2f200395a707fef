"""All controllers of a lifetime: who is synced when."""

from __future__ import annotations

from scheduler.lifetime.controllers.cron_jobs import sync_cron_job
from scheduler.lifetime.controllers.owned import OwnedObjects
from scheduler.lifetime.runs import Due
from scheduler.lifetime.runtime_state import RuntimeState
from scheduler.records.objects import Key, Object

CRON_JOB = "CronJob"
#: Kinds whose controller makes other objects.
CONTROLLERS = (CRON_JOB,)


class Controllers:
    """Brings what controllers own in line with what they ask for.

    A sync changes nothing where nothing changed, so that one too many does no harm.
    """

    def __init__(self, lifetime: RuntimeState) -> None:
        self.lifetime = lifetime
        self.host = lifetime.host
        self.owned = OwnedObjects(frozenset(CONTROLLERS), frozenset({"Job"}))
        self.next: dict[Key, int] = {}  # CronJob -> when its next Job is due

    def note(self, obj: Object) -> None:
        """Keep whose an object is."""
        self.owned.add(obj)

    def forget(self, key: Key) -> None:
        """Forget a deleted object; with a controller goes what it made."""
        self.next.pop(key, None)
        if key.kind in CONTROLLERS:
            for owned in self.owned.of(self.host.objects[key]):
                self.owned.remove(owned)
                self.host.delete(owned)
        elif (owner := self.owned.remove(key)) is not None:
            self._sync_later(owner)

    def changed(self, key: Key) -> None:
        """Let the owner of an object see at this instant that it ended."""
        if (owner := self.owned.owner_of(key)) is not None:
            self._sync_later(owner)

    def sync(self, controller: Object) -> None:
        """Make what a controller lacks now, and delete what it has too many."""
        jobs = [self.host.get(key) for key in self.owned.of(controller)]
        at = sync_cron_job(self.lifetime, controller, jobs)
        self.lifetime.context.journal.touch(controller.key)
        self.next.pop(controller.key, None)
        if at is not None:
            self.wait(controller.key, at)

    def wait(self, cron_job: Key, at_ms: int) -> None:
        """Sync a CronJob again at this instant."""
        self.next[cron_job] = at_ms
        self.lifetime.timers.add(at_ms, Due.SCHEDULE, cron_job)

    def _sync_later(self, owner: Key) -> None:
        """Sync at this instant, unless the owner is gone or did not come yet."""
        if owner in self.host.objects and owner in self.lifetime.arrived:
            self.lifetime.fresh[owner] = None
            self.lifetime.context.journal.touch(owner)
