"""A trace of each format: the same by the page's form and by the command."""

from __future__ import annotations

import gzip

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from sandbox.models import Job
from tests.api.test_command import _one_connection, said  # noqa: F401 - fixtures

pytestmark = [pytest.mark.django_db]

SWF = "".join(f"{n} {n} 0 30 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n" for n in (1, 2))
OPENB = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time
p-0,1000,1024,1,460,0,400
p-1,1000,1024,0,0,10,900
"""
TABLE = """\
jobid,vc,user,submitted_time,start_time,end_time,num_gpus
a,v,u,2017-10-03 12:01:22,2017-10-03 12:05:00,2017-10-03 13:05:00,8
c,v,u,2017-10-03 12:02:22,2017-10-03 12:05:00,2017-10-03 12:15:00,4
"""
TRACES = {
    "t.swf.gz": gzip.compress(SWF.encode()),
    "openb.csv": OPENB.encode(),
    "jobs.csv": TABLE.encode(),
}


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_comes_the_same_by_a_form_and_by_the_command(
    client,
    person,
    said,  # noqa: F811 - the fixture
    tmp_path,
    monkeypatch,
    name,
):
    (tmp_path / name).write_bytes(TRACES[name])
    monkeypatch.chdir(tmp_path)
    status, read = said("import", name)
    assert status == 0, read
    form = {"files": SimpleUploadedFile(name, TRACES[name])}
    sent = client.post("/api/v1/sandboxes", form, format="multipart").json()
    assert sent["report"] == read["report"]
    for made in (sent, read):
        assert Job.objects.filter(sandbox=made["id"]).count() == 2
