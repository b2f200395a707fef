"""A cluster followed into a sandbox: nothing is lost and nothing comes twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.contrib.auth.models import User

from sandbox import actions
from sandbox.base.errors import ConflictError, InvalidError, NotFoundError
from sandbox.models import Event, Revision, Sandbox
from sandbox.twins import clusters
from sandbox.worker import follower, running, tasks
from sandbox.world import worlds
from tests.sandbox.conftest import check_rows, row
from tests.services.cluster import ApiServer, api_server
from tests.services.default_run import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(tmp_path, settings) -> Iterator[ApiServer]:
    """A cluster with one node, which the operator allows to be followed."""
    with api_server() as (server, url):
        config = tmp_path / "kubeconfig"
        config.write_text(yaml.safe_dump(kubeconfig(url)))
        file = tmp_path / "clusters.yaml"
        one = {"name": "prod", "kubeconfig": str(config), "context": "admin@prod"}
        file.write_text(yaml.safe_dump({"clusters": [one]}))
        settings.CLUSTERS_FILE = str(file)
        server.put("Node", "n1")
        yield server
        for follower in [*running._here.values()]:
            follower.stop.set()
            follower.cluster.end_watches()
        running._here.clear()
        wait_for(lambda: not followers(), "the followers to end")


def kubeconfig(url: str) -> dict[str, object]:
    context = {"cluster": "prod", "user": "admin"}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "admin@prod",
        "clusters": [{"name": "prod", "cluster": {"server": url}}],
        "users": [{"name": "admin", "user": {}}],
        "contexts": [{"name": "admin@prod", "context": context}],
    }


def followers() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name.startswith("follow-")]


def begun(person) -> Sandbox:
    """Return a sandbox that follows the cluster, with what stood there."""
    twin = actions.do_follow_cluster(person, "admin@prod")
    tasks.advance(twin.pk)
    wait_for(lambda: nodes(twin) == {"n1": False}, "the first list")
    return twin


def taken_over(twin: Sandbox) -> None:
    """Have another follower begin; not while the present one holds the sandbox."""
    before = row(twin).follower

    def look() -> bool:
        tasks.advance(twin.pk)
        return row(twin).follower != before

    wait_for(look, "another follower")


def nodes(twin: Sandbox) -> dict[str, bool]:
    world = worlds.fresh(row(twin))
    return {
        key.name: bool(world.objects[key].spec.get("unschedulable"))
        for key in world.keys("Node")
    }


def changes(twin: Sandbox) -> list[str]:
    found = Event.objects.filter(sandbox=twin, type="NodeChange").order_by("pk")
    return [one.data["change"] for one in found]


def cordon(server: ApiServer, count: int) -> list[str]:
    """Cordon the node and let it be used again, so often; return the events of that."""
    for n in range(count):
        server.put("Node", "n1", unschedulable=n % 2 == 0)
    return ["cordoned" if n % 2 == 0 else "uncordoned" for n in range(count)]


def test_what_the_cluster_does_is_shown_and_what_stood_is_no_news(person, server):
    twin = begun(person)
    assert changes(twin) == []
    made = cordon(server, 7)
    wait_for(lambda: changes(twin) == made, "each change, once")
    check_rows(twin)


def test_a_twin_decides_as_the_releases_that_its_cluster_says_it_runs(person, server):
    twin = actions.do_follow_cluster(person, "admin@prod")
    release = worlds.policy_of(twin)["spec"]["release"]
    assert release == {"kubernetes": "1.36.0"}


def test_a_follower_that_takes_over_repeats_and_misses_nothing(person, server):
    twin = begun(person)
    made = cordon(server, 4)
    wait_for(lambda: changes(twin) == made, "the first changes")
    dead = running._here.pop(twin.pk)
    dead.stop.set()  # it says no more, and gives nothing back
    dead.cluster.end_watches()
    wait_for(lambda: not followers(), "its end")
    made += cordon(server, 6)
    tasks.advance(twin.pk)
    wait_for(lambda: changes(twin) == made, "what happened meanwhile")
    check_rows(twin)


def test_a_follower_that_is_merely_slow_ends_when_another_took_over(person, server):
    twin = begun(person)
    slow = running._here.pop(twin.pk)
    taken_over(twin)
    made = cordon(server, 5)
    wait_for(slow.stop.is_set, "the end of the slow one")
    wait_for(lambda: changes(twin) == made, "each change, once")


def test_an_expired_watch_and_a_server_that_was_away_are_made_good(person, server):
    twin = begun(person)
    server.down = True
    server.cut()
    server.put("Node", "n1", unschedulable=True)
    server.put("Node", "n2")
    away = "the cluster is not reached since 20"
    wait_for(lambda: row(twin).problem.startswith(away), "the page to say it")
    wait_for(lambda: row(twin).source["lagMs"] >= 1000, "the lag to grow")
    server.down = False
    server.expire()
    wait_for(lambda: nodes(twin) == {"n1": True, "n2": False}, "what differs")
    wait_for(lambda: not row(twin).problem, "the page to say that it goes on")
    wait_for(lambda: row(twin).source["lagMs"] < 1000, "the lag to end")
    assert changes(twin) == ["cordoned", "added"]


def test_a_pause_ends_the_following(person, server):
    twin = begun(person)
    actions.do_pause(person, twin.pk)
    wait_for(lambda: not followers(), "the follower's end")
    count = Revision.objects.filter(sandbox=twin).count()
    server.put("Node", "n2")
    assert Revision.objects.filter(sandbox=twin).count() == count
    actions.do_play(person, twin.pk)
    tasks.advance(twin.pk)
    wait_for(lambda: "n2" in nodes(twin), "what came meanwhile")


def test_nobody_steps_a_cluster_and_it_has_one_follower(person, server):
    twin = begun(person)
    with pytest.raises(ConflictError, match="follows a cluster"):
        actions.do_step(person, twin.pk)
    with pytest.raises(ConflictError, match=twin.pk):
        actions.do_follow_cluster(person, "prod")


@pytest.mark.parametrize("way", ["not named any more", "stopped", "cluster gone"])
def test_who_may_not_follow_any_more_sees_nothing_new(
    person, server, settings, monkeypatch, way
):
    monkeypatch.setattr(follower, "RIGHT_EVERY_S", 0.05)
    twin = begun(person)
    file = Path(settings.CLUSTERS_FILE)
    if way == "stopped":
        User.objects.filter(pk=person.pk).update(is_active=False)
    elif way == "cluster gone":
        file.write_text("clusters: []")
    else:
        [one] = yaml.safe_load(file.read_text())["clusters"]
        file.write_text(yaml.safe_dump({"clusters": [{**one, "people": ["other"]}]}))
    wait_for(lambda: not followers(), "the follower's end")
    server.put("Node", "n2")
    tasks.advance(twin.pk)
    assert not followers()
    assert "may not follow cluster prod any more" in row(twin).problem
    assert nodes(twin) == {"n1": False}


def test_only_what_the_operator_names_is_followed(person, server, settings):
    with pytest.raises(NotFoundError, match="expected one of prod"):
        actions.do_follow_cluster(person, "other")
    settings.CLUSTERS_FILE = ""
    with pytest.raises(NotFoundError, match="names none"):
        actions.do_follow_cluster(person, "prod")


def test_people_who_are_not_named_do_not_see_a_cluster(person, server, tmp_path):
    path = tmp_path / "clusters.yaml"
    path.write_text("clusters: [{name: prod, people: [somebody]}]")
    assert clusters.allowed(person) == []
    path.write_text("clusters: [{nmae: prod}]")
    with pytest.raises(InvalidError, match="nmae"):
        clusters.allowed(person)
