"""`quotalab`: the same verbs on this machine and on a server, for people and in JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import yaml
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from api.command import main
from api.command.connecting import warning
from api.command.parser import parser
from api.command.reports import lines_of
from api.command.verbs import VERBS
from sandbox.models import Sandbox
from sandbox.worker import tasks
from tests.builders import cluster_queue, job, small_cluster
from tests.sandbox.conftest import contended, row, text_of
from tests.services.default_run import DefaultRun

pytestmark = [pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _one_connection():
    """Keep the test's own connection open between requests, as Django's client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def world(tmp_path):
    path = tmp_path / "world.yaml"
    path.write_text(text_of(*contended()))
    return str(path)


@pytest.fixture
def said(capsys):
    """Return a function that runs the words and returns (status, JSON)."""

    def run(*words: str) -> tuple[int, object]:
        capsys.readouterr()
        status = main([*words, "--json"])
        return status, json.loads(capsys.readouterr().out)

    return run


def test_queues_of_volcano_are_converted_with_what_is_lost(capsys, tmp_path):
    path = tmp_path / "volcano.yaml"
    path.write_text(
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
        "metadata: {name: q}\nspec: {weight: 2, reclaimable: false}\n"
    )
    assert main(["convert", str(path)]) == 0
    written = capsys.readouterr()
    assert "kind: ClusterQueue" in written.out
    assert "reclaimable" in written.err


def test_a_world_is_imported_run_asked_and_exported(person, said, world, tmp_path):
    _, made = said("import", world, "--seed", "1", "--title", "Mine")
    key = made["id"]
    assert said("run", key, "--ticks", "12")[1]["tick"] == 12
    rows = said("table", key, "workloads", "phase=pending", "--sort=-priority")[1]
    assert {one["phase"] for one in rows} <= {"pending", "inadmissible"}
    assert said("forecast", key, "--futures", "2")[1]["asked"] == 2
    new = tmp_path / "new.yaml"
    new.write_text(text_of(job("new", queue="a", cpu="1")))
    options = ("--queues", "all", "--futures", "1")
    found = said("forecast", key, "--submit", str(new), *options)[1]
    assert found["starts"][0]["queue"] == found["soonest"]
    status, found = said("would", key, str(new), "--run-time", "7m")
    assert (status, found["starts"]) == (
        int(found["starts"] == "never"),
        found["starts"],
    )
    assert found["about"] == ["Job/default/new"]
    event = said("events", key, "--type", "Preempt", "--limit", "1")[1][0]
    found = said("reproduce", key, event["place"])[1]
    assert found["after"] < found["before"]
    assert said("preemption", key, event["place"])[1]["targets"]
    name = event["subject"].partition("/")[2]
    assert said("explain", key, name)[0] == 0
    file = tmp_path / "out.yaml"
    assert main(["export", key, "-o", str(file)]) == 0
    again = said("import", str(file), "--seed", "1")[1]
    assert Sandbox.objects.get(pk=again["id"]).stack == "kueue"
    archive = str(tmp_path / "a.quotalab")
    assert main(["export", key, "--what", "archive", "-o", archive]) == 0
    assert (tmp_path / "a.quotalab").stat().st_mode & 0o777 == 0o600
    assert said("restore", archive)[1]["tick"] == 12


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["rows", "JSON"])
def test_a_table_that_is_cut_off_says_of_how_many_rows(
    person, said, world, capsys, form
):
    key = said("import", world)[1]["id"]
    said("run", key, "--ticks", "3")
    whole = len(said("table", key, "workloads")[1])
    assert capsys.readouterr().err == ""
    assert main(["table", key, "workloads", "--limit", "1", *form]) == 0
    cut = f"1 of {whole} rows; --limit shows more, up to 5000\n"
    assert capsys.readouterr().err == cut


def test_a_finding_names_a_place_once_however_often_it_is_there():
    place = {"file": "dump.json", "line": 1, "field": ""}
    finding = {"level": "kept", "count": 11, "problem": "not simulated", "effect": ""}
    found = {**finding, "places": [place] * 5}
    fields = [
        {"field": name, "count": 2, "effect": effect, "place": place}
        for name, effect in (
            ("args", "nothing"),
            ("paused", "made"),
            ("tty", "nothing"),
        )
    ]
    report = {
        "files": [],
        "findings": [found],
        "kinds": [{"kind": "Pod", "unread": []}, {"kind": "Job", "unread": fields}],
    }
    assert lines_of(report) == [
        "kept: dump.json:1 (11 times): not simulated",
        "Job: kept, not followed: args (2), tty (2): nothing; paused (2): made",
    ]


def test_a_sandbox_is_archived_opened_again_and_measured(person, said, world):
    key = said("import", world)[1]["id"]
    said("run", key, "--ticks", "6")
    before = said("disk")[1][0]["bytes"]
    assert said("archive", key)[1]["archived"]
    assert said("disk")[1][0]["bytes"] < before
    assert said("hash", key)[0] == 2
    assert said("unarchive", key)[1]["tick"] == 6
    assert {line["part"] for line in said("disk", key)[1]} >= {"objects", "diffs"}


def test_history_is_let_go_at_once(person, said, world):
    key = said("import", world)[1]["id"]
    said("run", key, "--ticks", "80")
    assert said("keep", key, "--ticks", "10")[1]["keepTicks"] == 10
    assert tasks.tidy() > 0
    assert said("state", key, "--tick", "3")[0] == 2


def test_time_goes_both_ways(person, said, world):
    key = said("import", world)[1]["id"]
    said("run", key, "--ticks", "6")
    first = said("hash", key, "--tick", "3")[1]["hash"]
    assert said("fork", key, "--tick", "3")[1]["tick"] == 3
    assert said("rewind", key, "--tick", "3")[1]["tick"] == 3
    assert said("hash", key)[1]["hash"] == first
    assert said("play", key, "--speed", "3")[0] == 0
    assert Sandbox.objects.get(pk=key).playing
    assert said("pause", key)[0] == 0


def test_a_what_if_of_a_sandbox_has_the_verdict_of_one_of_its_files(
    person, said, world
):
    key = said("import", world, "--seed", "1")[1]["id"]
    words = ("--patch", "ClusterQueue/a={spec: {stopPolicy: Hold}}", "--horizon", "1m")
    status, found = said("what-if", key, *words)
    assert (status, found["state"], found["at"]) == (0, "open", 0)
    of_files = said("what-if", world, "--seed", "1", *words)[1]
    assert found["verdict"]["differs"]
    assert found["verdict"]["seeds"] == of_files["seeds"]


def test_a_policy_is_printed_and_patched(person, said, world, tmp_path, capsys):
    key = said("import", world)[1]["id"]
    patch = tmp_path / "patch.yaml"
    patch.write_text("spec: {kueue: {fairSharing: {}}}")
    assert said("policy", key, "--patch", str(patch))[0] == 0
    main(["policy", key])
    printed = yaml.safe_load(capsys.readouterr().out)
    assert printed["spec"]["kueue"] == {"fairSharing": {}}


def test_what_is_refused_is_reported_with_its_place(person, tmp_path, capsys):
    path = tmp_path / "bad.yaml"
    path.write_text(text_of(cluster_queue("q", cpu="four")))
    assert main(["import", str(path)]) == 2
    reported = capsys.readouterr().err
    assert "bad.yaml:" in reported
    assert "four" in reported
    assert not Sandbox.objects.exists()


@pytest.mark.parametrize(
    ("words", "status", "reported"),
    [
        (["pause", "aaaaaaaaaaaa"], 2, "does not exist"),
        (["import", "/nowhere.yaml"], 2, "No such file"),
        (["explain", "aaaaaaaaaaaa", "x", "--kind", "Pod"], 2, "NAMESPACE/NAME"),
        (["run", "aaaaaaaaaaaa", "--ticks", "0"], 2, "1 or more"),
        (["list", "--server", "http://127.0.0.1:9"], 2, "refused"),
    ],
)
def test_what_goes_wrong_is_an_exit_status(person, capsys, words, status, reported):
    assert main(words) == status
    assert reported in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("a: [", "policy.yaml"),
        ("", "got no document"),
        ("- a", "got ['a']"),
        ("kueue: {fairSharing: {}}", "policy.yaml: expected `spec`, got kueue"),
        ("kind: Cohort\nmetadata: c", "fields in `metadata`, got 'c'"),
        ("kind: Cohort\nmetadata: {name: c}", "fields in `spec`, got None"),
    ],
)
def test_what_changes_no_policy_is_refused_by_its_file(
    person, capsys, tmp_path, text, reported
):
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    window = ("--from", "1", "--to", "5", "--policy", str(path))
    assert main(["incident", "aaaaaaaaaaaa", *window]) == 2
    assert reported in capsys.readouterr().err


def test_options_stand_before_the_verb_or_after_it(person, capsys):
    for words in (["--json", "list"], ["list", "--json"]):
        assert main(words) == 0
        assert json.loads(capsys.readouterr().out) == []


def test_the_version_is_printed(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("quotalab 0.")


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    words = f"{sys.executable} -m api completion bash | head -c 1"
    command = f"set -o pipefail; {words}; echo $? >&2"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=True
    )
    assert done.stdout == "#"
    assert "Traceback" not in done.stderr


def test_to_wait_for_a_sandbox_that_stands_is_status_1(person, said, world, capsys):
    key = said("import", world)[1]["id"]
    assert main(["wait", key, "--tick", "5"]) == 1
    assert "stands at tick 0" in capsys.readouterr().err


def test_a_verb_of_both_is_done_on_files_where_the_first_word_is_one(capsys, world):
    assert main(["forecast", world, "--at", "2s", "--futures", "1", "--json"]) == 0
    assert "futures" in json.loads(capsys.readouterr().out)
    with pytest.raises(SystemExit):  # a sandbox has no instant, but a tick
        main(["forecast", "none-such", "--at", "2s"])


def test_every_verb_has_help_with_an_example():
    for name, verb in VERBS.items():
        assert verb.help
        assert verb.examples or verb.do is None
        assert all(name in line for line in verb.examples)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_verb_and_is_read_by_its_shell(capsys, tmp_path, shell):
    main(["completion", shell])
    reported = capsys.readouterr().out
    assert all(name in reported for name in (*VERBS, "completion"))
    if shell == "bash":
        ask = "COMP_WORDS=(quotalab table ID wo); COMP_CWORD=3; _quotalab; "
        ask += 'echo "${COMPREPLY[@]}"'
        done = subprocess.run(
            ["bash", "-c", reported + ask], capture_output=True, text=True, check=True
        )
        assert "workloads" in done.stdout.split()


def test_the_examples_in_the_help_are_words_that_it_understands():
    for verb in VERBS.values():
        for line in verb.examples:
            words = line.partition("| quotalab ")[2] or line.partition(" > ")[0]
            if "'" not in words:
                assert parser().parse_args(words.split())


def test_a_server_is_asked_with_the_token_of_the_environment(
    shared_run: DefaultRun, capsys, tmp_path, monkeypatch
):
    world = tmp_path / "world.yaml"
    world.write_text(text_of(*contended()))
    monkeypatch.setenv("QUOTALAB_SERVER", shared_run.url)
    assert main(["import", str(world), "--json"]) == 0
    key = json.loads(capsys.readouterr().out)["id"]
    assert main(["run", key, "--ticks", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tick"] >= 4
    assert shared_run.get(f"/api/v1/sandboxes/{key}")["tick"] >= 4
    assert main(["step", key, "--ticks", "2", "--wait"]) == 0
    assert os.environ["QUOTALAB_SERVER"]


def test_a_remote_experiment_ends_with_the_status_of_its_assertions(
    shared_run: DefaultRun, capsys, tmp_path
):
    (tmp_path / "world.yaml").write_text(text_of(*contended()))
    for most, status in ((10**9, 0), (-1, 1)):
        path = tmp_path / "experiment.yaml"
        document = {
            "apiVersion": "quotalab.dev/v1",
            "kind": "Experiment",
            "metadata": {"name": "x"},
            "spec": {
                "base": {"files": ["world.yaml"]},
                "seeds": {"count": 1},
                "horizon": "30s",
                "variants": [{"name": "plain"}],
                "assertions": [{"measure": "waitMeanMs", "max": most}],
            },
        }
        path.write_text(yaml.safe_dump(document))
        words = ["experiment", str(path), "--server", shared_run.url]
        assert main(words) == status
        assert "plain" in capsys.readouterr().out


def test_the_sandbox_of_a_fixture_is_seen(make, said):
    sandbox = make(cluster_queue("q"))
    assert [one["id"] for one in said("list")[1]] == [row(sandbox).pk]


def test_an_import_prints_its_report_and_leaves_out_what_is_wrong(
    person, tmp_path, capsys
):
    path = tmp_path / "bad.yaml"
    path.write_text(text_of(cluster_queue("q", cpu="four"), cluster_queue("r")))
    assert main(["import", str(path), "--skip-errors"]) == 0
    reported = capsys.readouterr().err
    assert "bad.yaml: 1 simulated, 1 refused (ClusterQueue 2)" in reported
    assert "error:" in reported
    assert Sandbox.objects.count() == 1


def test_a_kubeconfig_names_the_sandbox_and_carries_the_token(person, said, world):
    key = said("import", world)[1]["id"]
    document = said("kubeconfig", key)[1]
    assert document["clusters"][0]["cluster"]["server"].endswith(f"/sandboxes/{key}")
    assert document["current-context"] == document["contexts"][0]["name"]
    assert document["users"][0]["user"] == {}


@pytest.mark.parametrize(
    ("address", "token", "warned"),
    [
        ("http://lab.example:8000", "abc", True),
        ("https://lab.example", "abc", False),
        ("http://127.0.0.1:8000", "", False),
    ],
)
def test_a_token_that_kubectl_would_not_send_is_warned_of(address, token, warned):
    assert bool(warning(address, token)) == warned


def test_tokens_are_made_listed_and_revoked(person, said):
    made = said("token", "ci", "--scope", "write")[1]
    assert made["token"]
    (row,) = said("tokens")[1]
    assert (row["name"], row["scope"]) == ("ci", "write")
    assert said("tokens", "--revoke", str(row["id"]))[0] == 0
    assert said("tokens")[1] == []


@pytest.mark.parametrize("words", [("forecast",), ("compare",)])
def test_what_workers_answer_elsewhere_is_answered_where_none_is(
    person, make, said, settings, words
):
    sandbox = make(*small_cluster(cpu="4"), job("j", queue="main", cpu="8"))
    settings.ANSWER_INLINE, settings.ANSWER_WAIT_S = False, 5
    others = [sandbox.pk] if words == ("compare",) else ["--futures", "1"]
    assert said(*words, sandbox.pk, *others)[0] == 0


def test_run_takes_files_where_it_is_given_files(tmp_path, capsys):
    file = tmp_path / "w.yaml"
    file.write_text(text_of(*small_cluster(), job("j", queue="main", cpu=1)))
    assert main(["run", str(file), "--run-time", "5m"]) == 0
    assert "1 arrived, 1 admitted, 1 finished" in capsys.readouterr().out
