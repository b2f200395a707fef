"""Whatever was written is read back: archives of random histories, forks and deletions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sandbox import actions
from sandbox.access.people import local_user
from sandbox.base.errors import ConflictError, GoneError, InvalidError, NotFoundError
from sandbox.models import Sandbox
from sandbox.retention import archives, retention
from sandbox.world import commits, history, worlds
from scheduler.model.objects import Key
from tests.builders import job
from tests.sandbox.conftest import check_rows, contended, row, text_of, tick

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

EXAMPLES = 6 if settings().max_examples <= 100 else settings().max_examples
#: Ticks between checkpoints here: short histories have several.
APART = 8


@pytest.fixture(scope="module", autouse=True)
def _checkpoints_are_near():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commits, "CHECKPOINT_EVERY", APART)
        yield


class Family:
    """A sandbox, its forks and what rewinds kept; verbs pick a member by number."""

    def __init__(self) -> None:
        worlds.forget_all()
        Sandbox.objects.all().delete()  # of the example before
        self.user = local_user()
        self.begun = actions.do_create(
            self.user, files=[("world.yaml", text_of(*contended(6)))]
        ).sandbox

    def members(self) -> list[Sandbox]:
        return list(Sandbox.objects.order_by("created_at", "pk"))

    def pick(self, n: int) -> Sandbox:
        members = self.members()
        if not members:
            raise NotFoundError("all are deleted")
        return members[n % len(members)]

    def ticks(self, n: int) -> None:
        sandbox = self.pick(n)
        actions.do_play(self.user, sandbox.pk)
        tick(sandbox, 1 + n % 5)

    def long_run(self, n: int) -> None:
        """Run past the next checkpoint."""
        sandbox = self.pick(n)
        actions.do_play(self.user, sandbox.pk)
        tick(sandbox, APART + 2)

    def rewind(self, n: int) -> None:
        sandbox = self.pick(n)
        past = max(1, sandbox.tick - sandbox.kept_tick)
        actions.do_rewind(
            self.user, sandbox.pk, tick=sandbox.kept_tick + (n * 7) % past
        )

    def fork(self, n: int) -> None:
        sandbox = self.pick(n)
        past = sandbox.tick - sandbox.kept_tick + 1
        actions.do_fork(self.user, sandbox.pk, tick=sandbox.kept_tick + (n * 5) % past)

    def edit(self, n: int) -> None:
        text = text_of(job(f"extra-{n % 4}", queue="a-queue", cpu=1 + n % 2))
        actions.do_import(self.user, self.pick(n).pk, [("edit.yaml", text)])

    def delete_object(self, n: int) -> None:
        key = Key("Job", "default", f"job-0{n % 6}")
        actions.do_delete(self.user, self.pick(n).pk, [key])

    def undo(self, n: int) -> None:
        actions.do_undo(self.user, self.pick(n).pk)

    def redo(self, n: int) -> None:
        actions.do_redo(self.user, self.pick(n).pk)

    def delete(self, n: int) -> None:
        actions.do_delete_sandbox(self.user, self.pick(n).pk)

    def archive(self, n: int) -> None:
        actions.do_archive(self.user, self.pick(n).pk)

    def unarchive(self, n: int) -> None:
        actions.do_unarchive(self.user, self.pick(n).pk)

    def keep(self, n: int) -> None:
        """Keep few ticks, and delete what is older."""
        from sandbox.worker import tasks

        actions.do_set_retention(self.user, self.pick(n).pk, ticks=1 + n % 9)
        tasks.tidy()


VERBS: dict[str, Callable[[Family, int], None]] = {
    name: verb
    for name, verb in vars(Family).items()
    if callable(verb) and name not in ("__init__", "members", "pick")
}
STEPS = st.lists(
    st.tuples(
        st.one_of(
            st.sampled_from(["ticks", "ticks", "rewind"]),
            st.sampled_from(sorted(VERBS)),
        ),
        st.integers(0, 30),
    ),
    min_size=4,
    max_size=10,
)


def carry_out(family: Family, steps: list[tuple[str, int]]) -> None:
    for verb, how in steps:
        # What is refused changes nothing; anything else is a defect.
        with contextlib.suppress(ConflictError, GoneError, InvalidError, NotFoundError):
            VERBS[verb](family, how)


def check_read_back(family: Family) -> None:
    """Restore each member from its file; it is the same now, and goes on the same."""
    for sandbox in family.members():
        if row(sandbox).archived_at is not None:
            actions.do_unarchive(family.user, sandbox.pk)
        check_rows(sandbox)
        again = actions.do_restore(family.user, archives.write(sandbox.pk))
        assert again.hash == row(sandbox).hash
        check_rows(again)
        shown = history.revision_at(row(again), row(again).kept_tick)
        assert history.page_at(row(again), shown)
        for one in (sandbox, again):
            actions.do_play(family.user, one.pk)
            tick(one, 2)
        assert row(again).hash == row(sandbox).hash


@settings(max_examples=EXAMPLES, phases=[Phase.generate])
@given(steps=STEPS)
def test_every_history_is_archived_and_restored(steps):
    family = Family()
    carry_out(family, steps)
    check_read_back(family)


#: Histories that could not be read back, deleted or gone on from.
FOUND = {
    "a rewind leaves a gap in the numbers": "ticks 4, rewind 1",
    "a rewound sandbox is deleted": "ticks 4, rewind 1, delete 0",
    "what the rewind kept is deleted, then the rest archived": (
        "ticks 4, rewind 1, ticks 1, delete 1, archive 0"
    ),
    "a rewind behind the beginning of a fork": (
        "ticks 4, fork 1, ticks 1, rewind 5, delete 0"
    ),
}


@pytest.mark.parametrize("steps", FOUND.values(), ids=FOUND)
def test_what_could_not_be_read_back_is(steps):
    family = Family()
    words = [step.split() for step in steps.split(", ")]
    for verb, how in words:
        VERBS[verb](family, int(how))
    check_read_back(family)


def test_an_archive_that_cannot_be_read_back_removes_nothing(monkeypatch):
    family = Family()
    family.ticks(3)
    sandbox = family.begun
    monkeypatch.setattr(archives, "write", lambda _: b"quotalab sandbox 2\nnothing")
    with pytest.raises(ConflictError, match="nothing was removed"):
        actions.do_archive(family.user, sandbox.pk)
    assert row(sandbox).archived_at is None
    check_rows(sandbox)


def test_checkpoints_of_rewinds_outlive_what_is_deleted():
    family = Family()
    family.long_run(0)
    actions.do_rewind(family.user, family.begun.pk, tick=3)
    family.edit(0)
    family.long_run(0)
    family.long_run(0)
    actions.do_set_retention(family.user, family.begun.pk, ticks=5)
    sandbox = row(family.begun)
    step = actions.do_undo(family.user, sandbox.pk)
    assert step.revision == row(sandbox).revision
    assert retention.keep_of(sandbox, 0).ticks == 5
    check_rows(sandbox)
