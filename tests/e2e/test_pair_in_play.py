"""A run that plays beside its ghost: every number of a view is of one tick, on both sides."""

from __future__ import annotations

from tests.draws import fresh
from tests.e2e.board import Board, prepared
from tests.e2e.facts import ghost, truth, view

#: Waits until the place is drawn, and so many frames from a tick that is not the last one
#: seen; then reads all at once.
INSTANT = f"""async ([frames, last]) => {{
  const tick = () => document.querySelector('[data-testid=tick]').innerText;
  const drawn = () => document.querySelectorAll('#canvas [data-fact]').length;
  while (drawn() < {truth.FEWEST}) await new Promise(requestAnimationFrame);
  while (tick() === last) await new Promise(requestAnimationFrame);
  for (let n = 0; n < frames; n++) await new Promise(requestAnimationFrame);
  return ({truth.READ})();
}}"""
SPEEDS = (1, 5, 20)
PLACES = ("Board", "Nodes", "Fairness")
NEVER = {"spec": {"preemption": {"reclaimWithinCohort": "Never"}}}


def test_every_number_in_play_is_rests_of_one_tick_on_both_sides(board: Board) -> None:
    seed, draw = fresh()
    page = board.page
    made = prepared(page.request, board.url, {"scenario": "friday-rush"}, 60)
    api = f"{board.url}/api/v1/sandboxes/{made}"
    patch = {"kind": "ClusterQueue", "name": "research", "body": NEVER}
    asked = {"changes": [{"patch": patch}], "horizonMs": 300_000}
    found = page.request.post(f"{api}/what-ifs?wait=60", data=asked).json()
    assert found["verdict"]["lines"]
    page.goto(f"{board.url}/s/{made}/board?what-if={found['id']}")
    board.verdict()
    last, wrong, ghosts = "60", [], 0
    speeds = draw.sample(SPEEDS, len(SPEEDS))
    for speed, place in zip(speeds, draw.sample(PLACES, len(PLACES)), strict=True):
        page.request.post(f"{api}/actions/speed", data={"speed": speed})
        page.request.post(f"{api}/actions/play", data={})
        board.visit(place)
        seen = page.evaluate(INSTANT, [draw.randint(0, 40), last])
        last = seen["tick"]
        count, differs = truth.held(page, seen, plays=True)
        rows = view.fetched(page, "/state", int(last))["rows"]
        by_key = {row["key"]: row for row in rows}
        differs += ghost.wrong(seen, found["verdict"], by_key)
        wrong += [f"{place}, tick {last}, {speed}/s: {one}" for one in differs]
        ghosts += len(seen["ghosts"]["drawn"])
        assert count >= truth.FEWEST, f"{count} numbers at tick {last}"
    assert ghosts > 0
    assert wrong == [], f"QUOTALAB_SEED={seed}: {wrong}"
