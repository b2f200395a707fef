"""Policies side by side: one experiment, one HTML file."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
import yaml

from docs.examples import bake_off
from tests.builders import job, small_cluster, workload_priority

VARIANTS = """
apiVersion: quotalab.dev/v1
kind: Experiment
metadata: {name: two}
spec:
  title: "<Two>"
  base: {files: [world.yaml], stack: kueue}
  seeds: [1, 2]
  horizon: 5m
  variants:
  - name: as the release
  - name: spared
    policy: {simulation: {proposal: {name: MinimumRunTime, settings: {preempt: 1m}}}}
"""


@pytest.fixture
def written(tmp_path):
    world = [
        *small_cluster(within="LowerPriority"),
        workload_priority("urgent", 10),
        job("old", queue="main", cpu=4, runtime="2m"),
        job("new", queue="main", cpu=4, arrival="5s", priority_class="urgent"),
    ]
    (tmp_path / "world.yaml").write_text("---\n".join(map(yaml.safe_dump, world)))
    (tmp_path / "two.yaml").write_text(VARIANTS)
    file = tmp_path / "two.html"
    words = [str(tmp_path / "two.yaml"), str(file), str(tmp_path / "two.svg")]
    assert bake_off.main(words) == 0
    return file.read_text()


def test_the_file_says_which_variant_no_release_decides_as(written):
    assert (
        "spared: the proposal MinimumRunTime decides: no release decides so" in written
    )
    assert "as the release: the proposal" not in written


def test_the_file_has_waits_by_team_and_who_pays(written):
    assert "queues.main.p95Ms" in written
    assert "<h3>spared</h3>" in written
    assert "<td>main</td>" in written


def test_the_picture_has_a_line_per_queue_and_variant(written):
    assert written.count("<title>main</title>") == 2


def test_the_picture_is_a_file_of_its_own_too(written, tmp_path):
    picture = ElementTree.parse(tmp_path / "two.svg").getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert sum(1 for _ in picture.iter("{http://www.w3.org/2000/svg}path")) == 2


def test_the_file_asks_nothing_of_elsewhere_and_runs_nothing(written):
    assert "<script" not in written
    assert "http" not in written
    assert "&lt;Two&gt;" in written


def test_a_policy_that_is_not_here_is_said_and_nothing_is_written(tmp_path, capsys):
    (tmp_path / "world.yaml").write_text(yaml.safe_dump(small_cluster()[0]))
    (tmp_path / "two.yaml").write_text(VARIANTS.replace("MinimumRunTime", "Nobody"))
    words = [str(tmp_path / "two.yaml"), str(tmp_path / "two.html")]
    assert bake_off.main(words) == 2
    assert "simulation.proposal.name" in capsys.readouterr().err
    assert not (tmp_path / "two.html").exists()
