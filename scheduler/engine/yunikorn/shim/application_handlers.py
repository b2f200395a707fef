"""Applications that come in: placement, gangs, rejection."""

from __future__ import annotations

from typing import Any

from scheduler.engine.yunikorn import messages
from scheduler.engine.yunikorn.gang import placeholders
from scheduler.engine.yunikorn.objects import application_states
from scheduler.engine.yunikorn.objects.gang_state import GangState
from scheduler.engine.yunikorn.objects.model import Application, Ask, Rejected, State
from scheduler.engine.yunikorn.placement import manager as placement
from scheduler.engine.yunikorn.placement.rules import PlacementError, Submission
from scheduler.engine.yunikorn.shim import namespaces, pods
from scheduler.engine.yunikorn.shim.pods import PodDetails
from scheduler.engine.yunikorn.shim.predicate_selection import PredicateSelection
from scheduler.model.decisions import Fail
from scheduler.model.errors import QuantityError
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import APPLICATION_REJECTED as REJECTED
from scheduler.model.reasons import RESERVATION_TIMEOUT


class ApplicationHandlers(PredicateSelection):
    """Finds the application of a pod, or makes it."""

    def _application(
        self, obj: Object, details: PodDetails, kept: dict[str, Any], *, running: bool
    ) -> Application | None:
        user, groups = self._user(obj)
        tags = self._tags(obj)
        known = self.partition.apps.get(details.app)
        if known is not None and known.state is State.COMPLETED:
            application_states.advance(self.partition)
        elif known is not None:
            if (known.user, known.groups, known.tags) != (user, groups, tags):
                self.stored_apps[known.id] = None  # its pods no longer say whose it is
            return known
        leaf = self.partition.queue(kept.get("queue", ""))
        if leaf is None or not leaf.leaf:
            incoming = Submission(
                queue=details.queue,
                user=user,
                groups=groups,
                tags=tags,
            )
            try:
                leaf = placement.leaf_of(self.partition, incoming)
            except PlacementError as error:
                if not running:
                    why = messages.not_placed(details.app, str(error))
                    rejected = Rejected(
                        app=details.app,
                        user=user,
                        groups=groups,
                        at_ms=self.context.now_ms,
                        message=why,
                    )
                    self._reject(obj.key, rejected, quiet=bool(kept))
                    return None
                leaf = placement.recovery(self.partition)
        app = Application(
            id=details.app,
            queue=leaf,
            user=user,
            groups=groups,
            submit_ms=kept.get("submit", self.context.now_ms),
            tags=tags,
        )
        return self._begin(obj, app, details, restore=bool(kept))

    def _user(self, obj: Object) -> tuple[str, tuple[str, ...]]:
        """Return a pod's user and groups; without any it is a group of its own."""
        user, groups = pods.user_of(obj)
        return user, groups or (user,)

    def _tags(self, obj: Object) -> dict[str, str]:
        """Return the tags of an application that this pod submits now."""
        namespace = obj.key.namespace
        return namespaces.tags_of(namespace, self.annotations.get(namespace, {}))

    def _begin(
        self, obj: Object, app: Application, details: PodDetails, *, restore: bool
    ) -> Application | None:
        """Take a new application in, with its gang when it declares one."""
        self.partition.add_application(app)
        if not restore:
            namespaces.apply_quota(self.partition, app, self.context.journal.complain)
        found = None if restore else self._gang(obj)
        if found is None:
            return app
        self.stored_apps[app.id] = None  # its gang is kept beside the objects
        why = placeholders.declare(self.partition, app, found)
        if not why:
            found.origin = obj.key.path
            placeholders.add_placeholders(self.partition, app, details.pod.priority)
            return app
        self.partition.remove_application(app)
        rejected = Rejected(
            app=app.id,
            queue=app.queue.path,
            user=app.user,
            groups=app.groups,
            at_ms=self.context.now_ms,
            message=why,
        )
        self._reject(obj.key, rejected, quiet=False)
        return None

    def _gang(self, obj: Object) -> GangState | None:
        """Return the gang that a pod declares; a bad declaration makes none."""
        try:
            return pods.read_gang(obj)
        except QuantityError as error:
            self.context.journal.complain(error.said)
            return None

    def _fail(self, ask: Ask) -> None:
        """End a pod whose gang found no places in time."""
        assert ask.pod is not None
        key = ask.pod.key
        self.timed_out.add(key)
        self.partition.drop_ask(ask)
        self.context.journal.touch(key)
        self.context.journal.emit(
            Fail(
                at_ms=self.context.now_ms,
                subject=key,
                reason=RESERVATION_TIMEOUT,
                message=messages.TIMED_OUT,
            )
        )

    def _reject(self, key: Key, rejected: Rejected, *, quiet: bool) -> None:
        message = rejected.message
        self.rejected[key] = message
        self.partition.reject(rejected)
        self.context.journal.touch(key)
        if not quiet:
            now = self.context.now_ms
            self.context.journal.emit(
                Fail(
                    at_ms=now,
                    subject=key,
                    reason=REJECTED,
                    message=message,
                )
            )
