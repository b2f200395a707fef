"""Of some rows a sandbox keeps the newest: nobody's rows push out the owner's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db.models import Model

from sandbox.models import ImportReport, KeptForecast, KeptWhatIf, Sandbox
from sandbox.retention import retention
from sandbox.retention.retention import NEWEST, drop_oldest

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

ROOT = Path(__file__).parents[3]
#: A part of an ordered query from some row on: what a bound on rows deletes.
BEYOND = re.compile(r"\)\[[\w.]+ ?:\]")


def what_if(sandbox: Sandbox, user: User) -> Model:
    common = {"changes": [], "horizon_ms": 1, "seeds": [], "state": KeptWhatIf.OPEN}
    return KeptWhatIf(sandbox=sandbox, asked_by=user, revision=0, tick=0, **common)


def forecast(sandbox: Sandbox, user: User) -> Model:
    common = {"tick": 0, "now_ms": 0, "options": {}, "until": 0, "wanted_until": 0}
    state = KeptForecast.CANCELLED  # of the others one of a kind is kept
    return KeptForecast(
        sandbox=sandbox, asked_by=user, revision=0, state=state, **common
    )


def report(sandbox: Sandbox, user: User) -> Model:
    who = user.get_username()
    return ImportReport(sandbox=sandbox, revision=0, tick=0, who=who, report={})


ROWS: dict[type[Model], Callable[[Sandbox, User], Model]] = {
    KeptWhatIf: what_if,
    KeptForecast: forecast,
    ImportReport: report,
}


@pytest.fixture(params=ROWS, ids=lambda model: model.__name__)
def keep(request, make, monkeypatch):
    """Return a function that asks for rows as somebody; 4 are kept of each side."""
    model, sandbox = request.param, make()
    monkeypatch.setitem(NEWEST, model, NEWEST[model]._replace(most=4))

    def ask(user: User | None, count: int) -> set[int]:
        for _ in range(count):
            ROWS[model](sandbox, user or sandbox.owner).save()
            drop_oldest(model, sandbox)
        return set(model._default_manager.values_list("pk", flat=True))

    return ask


def test_every_table_of_which_the_newest_are_kept_is_tried_here():
    assert set(ROWS) == set(NEWEST)


def test_nothing_else_deletes_what_is_beyond_a_number_of_rows():
    found = {
        str(path.relative_to(ROOT))
        for package in ("sandbox", "api")
        for path in (ROOT / package).rglob("*.py")
        if "client" not in path.parts
        and BEYOND.search(text := path.read_text("utf-8"))
        and ".delete()" in text
    }
    assert found == {str(Path(retention.__file__).relative_to(ROOT))}


def test_what_others_ask_for_leaves_the_owners_alone(keep, stranger):
    mine = keep(None, 3)
    kept = keep(stranger, 9)
    assert mine < kept
    assert len(kept - mine) == 4


def test_what_the_owner_asks_for_leaves_the_others_alone(keep, stranger):
    theirs = keep(stranger, 4)
    kept = keep(None, 9)
    assert theirs < kept
    assert kept - theirs == set(sorted(kept - theirs)[-4:])


def test_of_others_whoever_has_most_loses_the_oldest(keep, stranger, db):
    few = keep(User.objects.create_user("few"), 2)
    kept = keep(stranger, 9)
    assert few < kept
    newest = sorted(kept - few)
    assert len(newest) == 2
    assert newest[-1] == max(kept)


def test_what_is_at_work_goes_after_all_others(make, monkeypatch):
    sandbox = make()
    monkeypatch.setitem(NEWEST, KeptWhatIf, NEWEST[KeptWhatIf]._replace(most=2))
    rows = [what_if(sandbox, sandbox.owner) for _ in range(3)]
    rows[1].state = KeptWhatIf.DISCARDED
    for row in rows:
        row.save()
    drop_oldest(KeptWhatIf, sandbox)
    left = set(KeptWhatIf.objects.values_list("pk", flat=True))
    assert left == {rows[0].pk, rows[2].pk}
