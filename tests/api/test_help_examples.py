"""Every example in the help of `quotalab` is run, in this process."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.command import main
from api.command.parser import parser
from api.command.verbs import VERBS
from tests.api.test_command import _one_connection  # noqa: F401 - a fixture
from tests.builders import job, node, pod
from tests.sandbox.conftest import contended, text_of

pytestmark = [pytest.mark.django_db]

ABROAD = "https://quotalab.example"
TICKS = 130  # more than any example looks back to
SWF = "".join(
    f"{n} {60 * n} 0 30 1 -1 -1 1 60 -1 1 {n} 1 1 1 1 -1 -1\n" for n in range(9)
)
#: Verbs that have tests of their own: workers are started, a recording is read.
ELSEWHERE = (
    "experiment",
    "twin",
    "shadow",
    "incident",
    "prove",
    "patch",
    "advise",
    "mcp",
)
#: What must have been done for an example to make sense.
FIRST = {
    "wait ID --tick 600 --timeout 60": ["run ID --ticks 600"],
    "undo ID": ["policy ID --patch fair-sharing.yaml"],
    "redo ID": ["policy ID --patch fair-sharing.yaml", "undo ID"],
    "unarchive ID": ["archive ID"],
}
VOLCANO = (
    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\n"
)
FAIR = "spec: {kueue: {fairSharing: {enable: true}}}\n"
EXPERIMENT = {
    "apiVersion": "quotalab.dev/v1",
    "kind": "Experiment",
    "metadata": {"name": "x"},
    "spec": {
        "base": {"files": ["queues.yaml", "jobs.yaml"]},
        "seeds": {"count": 1},
        "horizon": "20s",
    },
}


def say(capsys: Any, *words: str, given: bytes = b"") -> str:
    """Return what these words print; they must do what they say."""
    capsys.readouterr()
    sys.stdin = io.TextIOWrapper(io.BytesIO(given))
    status = main(list(words))
    printed = capsys.readouterr()
    assert status == 0, f"{words}: {printed.err}"
    return str(printed.out)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the files that the examples name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", sys.stdin)
    jobs = [one for one in contended(24) if one["kind"] == "Job"]
    more = [job("job-a", queue="a-queue", cpu=1, arrival="140s"), node("n1", cpu=64)]
    files = {
        "queues.yaml": text_of(*contended(0)),
        "jobs.yaml": text_of(*jobs, *more, pod("pod-1", runtime="1h")),
        "manifests/jobs.yaml": text_of(job("job-b", queue="a-queue", cpu=1)),
        "job.yaml": text_of(job("job-c", queue="a-queue", cpu=1)),
        "volcano/queue.yaml": VOLCANO,
        "fair-sharing.yaml": FAIR,
        "compare.yaml": yaml.safe_dump(EXPERIMENT),
        "more-nodes.yaml": text_of(node("n9", cpu=64)),
        "jobs.csv": "created,seconds,ngpus,cpu\n0,30,0,1\n1000,40,0,1\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (tmp_path / "trace.swf.gz").write_bytes(gzip.compress(SWF.encode()))
    return tmp_path


def test_every_example_does_what_it_says(folder: Path, capsys):
    made = json.loads(say(capsys, "import", "queues.yaml", "jobs.yaml", "--json"))
    key = made["id"]
    say(capsys, "run", key, "--ticks", str(TICKS))
    say(capsys, "export", key, "--what", "archive", "-o", "sandbox.quotalab")
    world = say(capsys, "export", key).encode()
    preempt = json.loads(say(capsys, "events", key, "--type", "Preempt", "--json"))
    known = {
        "12.3": preempt[0]["place"],
        "job-a-12345": preempt[0]["subject"].rpartition("/")[2],
        "3": str(json.loads(say(capsys, "token", "t", "--json"))["id"]),
        "600": "20",
        "--wait": "",  # needs a worker; test_command.py waits for one
        f"--server {ABROAD}": "",
    }
    for verb in VERBS.values():
        for line in verb.examples:
            if line.startswith(ELSEWHERE):
                continue
            fork = json.loads(say(capsys, "fork", key, "--json"))["id"]
            known |= {"ID2": key, "ID": fork}
            for before in FIRST.get(line, ()):
                say(capsys, *replaced(before, known).split())
            perform(capsys, replaced(line, known), world)


def replaced(line: str, known: dict[str, str]) -> str:
    """Put what there is in the place of what the examples name."""
    words = sorted(known, key=len, reverse=True)
    pattern = "|".join(rf"(?<![\w-]){re.escape(word)}(?!\w)" for word in words)
    return re.sub(pattern, lambda found: known[found[0]], line)


def perform(capsys: Any, line: str, world: bytes) -> None:
    """Run a line as a shell would: a pipe, a file; kubectl's part is tested with it."""
    line = line.partition(" && ")[0]
    left, _, right = line.partition(" | quotalab ")
    left, _, file = left.partition(" > ")
    ours = not left.startswith("kubectl")
    out = say(capsys, *shlex.split(left)) if ours else world.decode()
    if file:
        Path(file).write_text(out)
    if right:
        say(capsys, *shlex.split(right), given=out.encode())


def test_the_first_words_of_the_help_are_words_that_it_understands():
    about = re.findall(
        r"^  quotalab (.+?)(?:  .*)?$", parser().description or "", re.MULTILINE
    )
    assert len(about) >= 6
    for line in about:
        assert parser().parse_known_args(line.split())
