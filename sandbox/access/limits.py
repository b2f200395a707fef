"""What one person may take of a shared machine; the operator sets the numbers."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Sequence

from django.conf import settings
from django.contrib.auth.models import User

from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import Cause, ForbiddenError, InvalidError, TooManyError
from sandbox.base.refusals import Denied
from sandbox.models import Experiment, KeptForecast, Sandbox
from sandbox.models.sandbox import is_guest
from scheduler.model.objects import Object
from scheduler.model.problems import RequestProblem, Wanted, expected
from scheduler.model.sentence import Sentence
from scheduler.model.texts.plain_text import is_suspect, unstorable
from scheduler.model.texts.values import Limits

#: Seconds after which somebody who has too many jobs may try again.
JOB_WAIT_S = 5.0


def of_texts() -> Limits:
    """Return what the YAML of one import may cost."""
    most = settings.LIMITS
    return Limits(
        bytes=most["bytes_per_import"],
        depth=most["yaml_depth"],
        aliases=most["yaml_aliases"],
        values=most["yaml_values"],
        objects=most["objects_per_import"],
        pods=most["pods_per_object"],
    )


def check_bytes(files: Sequence[tuple[str, str]]) -> None:
    """Refuse texts that are too large together."""
    most, given = settings.LIMITS["bytes_per_import"], 0
    for name, text in files:
        given += len(text.encode("utf-8", "surrogatepass"))
        if most and given > most:
            problem = RequestProblem.BYTES.said(most=most)
            raise InvalidError(problem, causes=[Cause(problem=problem, file=name)])


def check_objects(count: int) -> None:
    """Refuse more objects than one import may bring."""
    most = settings.LIMITS["objects_per_import"]
    if most and count > most:
        problem = RequestProblem.OBJECTS.said(count=count, most=most)
        raise InvalidError(problem, causes=[Cause(problem=problem)])


def check_texts(files: Sequence[tuple[str, str]], objects: Iterable[Object]) -> None:
    """Refuse objects with text that no database can hold."""
    texts = (part for file in files for part in file)
    if not any(is_suspect(text.encode("utf-8", "surrogatepass")) for text in texts):
        return
    for obj in objects:
        if place := next(unstorable(obj.manifest), ""):
            problem = RequestProblem.TEXT_SUSPECT.said(
                given=f"{str(obj.key)!a}: {place!a}"
            )
            raise InvalidError(problem, causes=[Cause(problem=problem)])


def check_sandboxes(user: User) -> None:
    """Refuse one more sandbox to a user who has as many as allowed."""
    if is_guest(user):
        raise ForbiddenError(Denied.GUEST.said())
    most = settings.LIMITS["sandboxes_per_user"]
    if most and Sandbox.objects.filter(owner_id=user.pk).count() >= most:
        raise ForbiddenError(Denied.SANDBOXES.said(most=most))


def check_speed(speed: float) -> None:
    """Refuse a speed that no sandbox may have here."""
    most = settings.LIMITS["ticks_per_second"]
    if most and speed > most:
        problem = expected(Wanted.AT_MOST_TICKS.said(most=most), given=f"{speed:g}")
        raise InvalidError(problem, causes=[Cause(problem=problem, field="speed")])


def check_jobs(user: User | None, *, alone: bool = False) -> None:
    """Refuse one more experiment or forecast to a user who has as many running as allowed.

    `alone` is for the transaction that stores the job: of two of one person the second
    waits until it sees the first. Raises TooManyError.
    """
    most = settings.LIMITS["jobs_per_user"]
    if user is None or not most:
        return
    if alone:
        list(User.objects.select_for_update().filter(pk=user.pk).values_list("pk"))
    experiments = Experiment.objects.filter(owner=user, state=Experiment.RUNNING)
    now = DatabaseTime()
    forecasts = KeptForecast.objects.filter(
        asked_by=user, state=KeptForecast.RUNNING, wanted_until__gt=now
    )
    if experiments.count() + forecasts.count() >= most:
        raise TooManyError(Denied.JOBS.said(most=most), wait=JOB_WAIT_S)


def seconds_per_tick() -> float:
    """Return how long a tick takes at least, for what goes as fast as it can."""
    most = settings.LIMITS["ticks_per_second"]
    return 1 / most if most else 0.0


def check_experiment(runs: int, horizon_ms: int) -> None:
    """Refuse an experiment of too many runs, or of too much virtual time."""
    most = settings.LIMITS["runs_per_experiment"]
    if most and runs > most:
        raise _too_big(RequestProblem.RUN_LIMIT.said(count=runs, most=most))
    hours = runs * horizon_ms / 3_600_000
    longest = settings.LIMITS["hours_per_experiment"]
    if longest and hours > longest:
        each = f"{horizon_ms / 3_600_000:g}"
        said = RequestProblem.HOUR_LIMIT.said(
            count=runs, each=each, hours=f"{hours:g}", most=longest
        )
        raise _too_big(said)


def _too_big(problem: Sentence) -> InvalidError:
    return InvalidError(problem, causes=[Cause(problem=problem, field="spec")])


class Slots:
    """Counts requests of one kind that this process works on: per person, and in all.

    `each` and `in_all` name the limits.
    """

    def __init__(self, each: str, in_all: str) -> None:
        self._each, self._in_all = each, in_all
        self._changed = threading.Condition()
        self._taken: Counter[int] = Counter()

    def take(self, user_id: int, *, patience_s: float = 0.0) -> bool:
        """Reserve a slot, waiting up to `patience_s` for one; return False when none is free."""
        with self._changed:
            found = self._changed.wait_for(lambda: self._is_free(user_id), patience_s)
            self._taken[user_id] += found
            return found

    def _is_free(self, user_id: int) -> bool:
        most = settings.LIMITS[self._each]
        most_in_all = settings.LIMITS[self._in_all]
        if most and self._taken[user_id] >= most:
            return False
        return not most_in_all or self._taken.total() < most_in_all

    def leave(self, user_id: int) -> None:
        """Release a slot."""
        with self._changed:
            self._taken[user_id] -= 1
            if self._taken[user_id] <= 0:
                del self._taken[user_id]
            self._changed.notify_all()


class HandshakeLimiter:
    """Counts the sockets that each address opened in this minute, in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._minute = 0
        self._counted: Counter[str] = Counter()

    def allowed(self, address: str, now: float) -> bool:
        """Count a socket of this address; return False above the limit. `now` is in seconds."""
        most = settings.LIMITS["handshakes_per_minute"]
        with self._lock:
            if int(now // 60) != self._minute:
                self._minute = int(now // 60)
                self._counted.clear()
            self._counted[address] += 1
            return not most or self._counted[address] <= most


connection_slots = Slots("connections_per_user", "connections")
#: Of requests that wait until something is done.
wait_slots = Slots("waits_per_user", "waits")
#: Of answers that are run anew for whoever asks.
answer_slots = Slots("answers_per_user", "answers")
handshakes = HandshakeLimiter()
