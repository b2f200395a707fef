"""What one person may take of a shared machine; the operator sets the numbers."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

from django.conf import settings
from django.contrib.auth.models import User

from sandbox.errors import Cause, ForbiddenError, InvalidError
from sandbox.models import Sandbox
from scheduler.manifests.documents import Limits


def of_texts() -> Limits:
    """Return what the YAML of one import may cost."""
    most = settings.LIMITS
    return Limits(
        bytes=most["bytes_per_import"],
        depth=most["yaml_depth"],
        aliases=most["yaml_aliases"],
    )


def check_bytes(files: Sequence[tuple[str, str]]) -> None:
    """Refuse texts that are too large together."""
    most, given = settings.LIMITS["bytes_per_import"], 0
    for name, text in files:
        given += len(text)
        if most and given > most:
            problem = f"over {most} bytes in all; split the import"
            raise InvalidError(problem, causes=[Cause(problem=problem, file=name)])


def check_objects(count: int) -> None:
    """Refuse more objects than one import may bring."""
    most = settings.LIMITS["objects_per_import"]
    if most and count > most:
        problem = f"{count} objects are over the limit of {most}; split the import"
        raise InvalidError(problem, causes=[Cause(problem=problem)])


def check_sandboxes(user: User) -> None:
    """Refuse one more sandbox to somebody who has as many as allowed."""
    most = settings.LIMITS["sandboxes_per_user"]
    if most and Sandbox.objects.filter(owner_id=user.pk).count() >= most:
        raise ForbiddenError(
            f"you have {most} sandboxes, as many as allowed; delete one first"
        )


class Seats:
    """How many sockets each person has open in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: Counter[int] = Counter()

    def take(self, user_id: int) -> bool:
        """Take one; False when all are taken."""
        most = settings.LIMITS["connections_per_user"]
        with self._lock:
            if most and self._taken[user_id] >= most:
                return False
            self._taken[user_id] += 1
            return True

    def leave(self, user_id: int) -> None:
        """Give one back."""
        with self._lock:
            self._taken[user_id] -= 1
            if self._taken[user_id] <= 0:
                del self._taken[user_id]


seats = Seats()
