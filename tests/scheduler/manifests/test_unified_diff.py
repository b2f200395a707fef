"""A diff makes the text after of the text before, and has no more lines than it needs."""

from __future__ import annotations

import subprocess

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.input.manifests.file_changes import Steps, patch_files
from scheduler.model.objects import Key
from scheduler.model.texts.rewriting import Edit, rewritten
from scheduler.model.texts.unified_diff import Changed, unified

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train-{n}
spec:
  parallelism: 1
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
"""
LINES = st.lists(
    st.sampled_from(["a\n", "b\n", "b\r\n", "\n", "- c: 1\n"]), max_size=30
)
TEXTS = st.tuples(LINES, st.sampled_from(["", "", "d"])).map(
    lambda t: "".join([*t[0], t[1]])
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """Return a text, and edits of it in order."""
    text = draw(TEXTS)
    places = draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    pairs = zip(places[::2], places[1::2], strict=False)
    new = st.sampled_from(["", "x", "a\n", "x\ny\n", "\n"])
    return text, [Edit(begin, end, draw(new)) for begin, end in pairs]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(edited(), st.booleans())
def test_git_makes_the_text_after_of_the_text_before(
    tmp_path_factory, given_, by_edits
):
    before, changes = given_
    after = rewritten(before, changes)
    if before == after:
        return
    folder = tmp_path_factory.mktemp("diff")
    (folder / "x.yaml").write_bytes(before.encode())
    diff = unified(Changed("x.yaml", before, after, changes if by_edits else ()))
    command = ["git", "apply", "--unsafe-paths", "-"]
    subprocess.run(command, cwd=folder, input=diff.encode(), check=True)
    assert (folder / "x.yaml").read_bytes() == after.encode()


def test_a_few_changes_among_many_like_manifests_are_a_few_lines():
    text = "---\n".join(JOB.format(n=n) for n in range(2000))
    objects = {}
    for n in range(0, 2000, 50):
        before = {
            "kind": "Job",
            "metadata": {"name": f"train-{n}"},
            "spec": {"parallelism": 1},
        }
        key = Key("Job", "default", f"train-{n}")
        objects[key] = before, {**before, "spec": {"parallelism": 2}}
    diff = patch_files([("jobs.yaml", text)], Steps(objects=objects)).diff
    assert diff.count("\n-  parallelism: 1\n+  parallelism: 2\n") == 40
    assert len(diff.splitlines()) == 2 + 40 * 9
