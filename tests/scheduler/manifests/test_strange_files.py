"""A file that is no text is refused by itself; what lies beside it is taken."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile

import pytest

from scheduler.assembly import NOTHING_LEFT, InputError, assemble
from scheduler.cli.files import read_paths
from scheduler.input.files.unpacking import Unpacking

GOOD = b"apiVersion: v1\nkind: Namespace\nmetadata: {name: good}\n"
NAMED = b"apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n"


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("folder/", b"")
        for name, data in files.items():
            archive.writestr(f"folder/{name}.yaml", data)
    return buffer.getvalue()


def taken(data: bytes, name: str = "strange.yaml"):
    unpacking = Unpacking()
    files = [("good.yaml", GOOD), (name, data)]
    texts = [text for file in files for text in unpacking.texts(*file)]
    made = assemble(texts, skip_errors=True)
    names = {key.name for key in made.world.objects if key.kind == "Namespace"}
    return names - {"default"}, [str(one) for one in made.loaded.findings]


REFUSED = {
    "bzip2": (bz2.compress(GOOD), "packed as bzip2: pack it as .zip or .tar.gz"),
    "xz": (lzma.compress(GOOD), "packed as xz: pack it as .zip or .tar.gz"),
    "latin-1": (NAMED % "caf\xe9".encode("latin-1"), "byte 0xE9; save it as UTF-8"),
    "a NUL": (NAMED % b"a\0b", ":3: expected text, got a NUL (a binary file?)"),
    "UTF-16 without its mark": ((NAMED % b"a").decode().encode("utf-16-le"), "a NUL"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "byte 0x89"),
    "half a gzip": (gzip.compress(GOOD)[:-9], "expected gzip: it ends before its end"),
    "half a zip": (zipped(a=GOOD)[:-30], "expected a zip"),
    "tabs": (b"kind: Pod\n\tmetadata: {}\n", ":2: not YAML: found a tab"),
    "a template": (b"kind: {{ .Values.kind }}\n", "a template that is no YAML yet"),
    "an escaped NUL": (b'{"apiVersion":"v1","kind":"Namespace","metadata":'
                       b'{"name":"n","annotations":{"a":"\\u0000"}}}', "holds a NUL"),
    "nothing": (b"", "holds no document"),
    "comments alone": (b"# one\n---\n# two\n", "holds no document"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_cannot_be_read_is_one_finding_and_the_rest_is_taken(case):
    data, problem = REFUSED[case]
    names, said = taken(data)
    assert names == {"good"}
    (found,) = said
    assert found.startswith("strange.yaml")
    assert problem in found


TAKEN = {
    "a mark": b"\xef\xbb\xbf" + NAMED % b"odd",
    "CRLF": (NAMED % b"odd").replace(b"\n", b"\r\n"),
    "UTF-16": (NAMED % b"odd").decode().encode("utf-16"),
    "gzip by mistake": gzip.compress(NAMED % b"odd"),
    "zip by mistake": zipped(odd=NAMED % b"odd"),
}


@pytest.mark.parametrize("case", TAKEN)
def test_a_text_in_another_wrapping_is_taken(case):
    assert taken(TAKEN[case]) == ({"good", "odd"}, [])


def test_every_file_of_an_archive_that_cannot_be_read_is_named():
    names, said = taken(zipped(a=b"\xe9", b=NAMED % b"in", c=b"\0"), "all.zip")
    assert names == {"good", "in"}
    assert [one.split(":")[0] for one in said] == [
        "all.zip/folder/a.yaml",
        "all.zip/folder/c.yaml",
    ]


def test_a_folder_is_read_with_what_is_no_text_in_it(tmp_path, capsys):
    (tmp_path / "a.yaml").write_bytes(b"\xe9")
    (tmp_path / "b.yaml").write_bytes(GOOD)
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    made = assemble(read_paths([tmp_path]), skip_errors=True)
    assert [key.name for key in made.world.objects] == ["good"]
    assert "gone.yaml: ignored; expected a file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("chart/templates/queue.yaml", "metadata:\n  name: {{ .Release.Name }}\n"),
        ("overlay/patch.yaml", "# ours\n- op: replace\n  path: /spec/x\n  value: 1\n"),
        ("overlay/patch.json", '[\n  {"op": "add", "path": "/spec", "value": {}}\n]'),
    ],
)
def test_what_a_tool_renders_refuses_no_file_beside_it(name, text):
    made = assemble([(name, text), ("good.yaml", GOOD.decode())])
    [found] = made.loaded.findings
    assert (found.level, found.place.file) == ("unsupported", name)
    assert "render it first" in str(found)


@pytest.mark.parametrize(
    "text",
    [
        "kind: Job\n\tmetadata: {}\n# {{ not why }}\n",
        "# {{ not why }}\nkind: Job\nb: 2\nc: 3\nd: }\n",
    ],
)
def test_a_fault_away_from_a_template_is_a_fault(text):
    made = assemble([("a.yaml", text), ("good.yaml", GOOD.decode())], skip_errors=True)
    assert [one.level for one in made.loaded.findings] == ["error"]


def test_a_bomb_with_a_template_in_it_is_refused():
    names = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    text = "\n".join(["a0: &a0 [x] # {{ }}", *names])
    with pytest.raises(InputError):
        assemble([("bomb.yaml", text), ("good.yaml", GOOD.decode())])


@pytest.mark.parametrize("text", ["kind: [", "kind: }"])
def test_a_world_of_which_errors_leave_nothing_is_refused_though_they_are_skipped(text):
    with pytest.raises(InputError, match=NOTHING_LEFT.text) as refused:
        assemble([("broken.yaml", text)], skip_errors=True)
    assert "broken.yaml:" in str(refused.value)
    assert assemble([("broken.yaml", text), ("good.yaml", GOOD.decode())],
                    skip_errors=True).loaded.errors  # fmt: skip


@pytest.mark.parametrize("name", ["manifests", "manifests.txt", "a/b.yml.bak"])
def test_manifests_in_a_file_whose_name_says_nothing_are_taken(name):
    assert taken(b"# ours\n---\n" + NAMED % b"odd", name) == ({"good", "odd"}, [])


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        (
            "notes.md",
            "# Notes\n\nOn kind: Pod.\n",
            "not read: expected a name in .yaml",
        ),
        ("a.yaml", "# nothing\n", "holds no document; nothing was taken"),
    ],
)
def test_files_of_which_nothing_comes_are_refused(name, text, problem):
    with pytest.raises(InputError, match=f"^{name}:1: {problem}"):
        assemble([(name, text)])
