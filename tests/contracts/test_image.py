"""The Dockerfile copies what there is, and brings the client of the server that it talks to."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from sandbox.worker import pool

ROOT = Path(__file__).resolve().parents[2]
IMAGE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SENT = [
    line.removeprefix("!")
    for line in (ROOT / ".dockerignore").read_text().splitlines()
    if line.startswith("!")
]
COPIED = sorted(set(re.findall(r"^COPY (?!--from)(\S+) ", IMAGE, re.MULTILINE)))


@pytest.mark.parametrize("path", COPIED)
def test_what_is_copied_is_there_and_sent_to_the_builder(path):
    assert (ROOT / path).exists()
    within = [path, f"{path}/x", f"{path}/x.md"]
    assert any(fnmatch(name, sent) for sent in SENT for name in within)


def test_what_the_program_writes_while_the_image_is_built_does_not_stay_in_it():
    steps = re.findall(r"^RUN (?:.*\\\n)*.*", IMAGE, re.MULTILINE)
    programs = [step for step in steps if "manage.py" in step]
    assert programs
    for step in programs:
        folders = re.findall(r"QUOTALAB_DATA=(\S+) python manage.py", step)
        assert len(folders) == step.count("manage.py"), step
        assert all(f"rm -r {folder}" in step for folder in folders), step


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("docker-compose.yml", "stop_grace_period"),
        ("docs/deploy/kubernetes.yaml", "terminationGracePeriodSeconds"),
        ("docs/deploy/chart/templates/web.yaml", "terminationGracePeriodSeconds"),
        ("docs/deploy/chart/templates/work.yaml", "terminationGracePeriodSeconds"),
    ],
)
def test_who_is_asked_to_end_is_killed_no_sooner_than_it_ends_by_itself(path, key):
    parts = re.split(r"\n---\n|\n(?=  \w+:\n)", (ROOT / path).read_text())
    waits = {
        r"uvicorn.*--timeout-graceful-shutdown, \"(\d+)\"": 0,
        r"manage\.py, worker": pool.END_WITHIN_S,
    }
    found = 0
    for part in parts:
        for command, seconds in waits.items():
            if started := re.search(command, part):
                least = int(started[1]) if started.groups() else seconds
                given = re.search(rf"{key}: (\d+)", part)
                assert given
                assert int(given[1]) >= least + 3
                found += 1
    assert found == (1 if "chart" in path else 2)


def test_the_client_has_the_version_of_every_server():
    [client] = re.findall(r"postgresql-client-(\d+)", IMAGE)
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    chart = yaml.safe_load((ROOT / "docs/deploy/chart/values.yaml").read_text())
    servers = {
        compose["services"]["postgres"]["image"],
        chart["postgres"]["image"],
    }
    assert servers == {f"postgres:{client}"}
