"""The reference names every operation, and what it shows to type is what the API takes."""

from __future__ import annotations

import ast
import inspect
import json
import operator

import pytest

from api.client import Client
from api.command.parser import parser
from api.command.verbs import VERBS
from api.generating.reference import BODIES, COMMANDS, call, curl, page, reference
from api.generating.shapes import operations_of
from api.schema import document
from sandbox import actions
from tests.builders import job, local_queue, small_cluster
from tests.sandbox.conftest import row, tick

pytestmark = [pytest.mark.django_db]
#: Reads that are refused here (404, 409): no cluster is followed, no lesson was written.
OF_OTHERS = {"shadow_read", "script_read", "script_file_read"}
#: The places in the path of an object, for the bodies that are of one.
QUEUE = {"$KIND": "ClusterQueue", "$NAMESPACE": "-", "$NAME": "main"}
#: Verbs that ask for several operations, for none, or for that of another verb.
NO_OPERATION = {"kubeconfig", "prove", "run", "wait"}


@pytest.fixture
def queue(make, person):
    """A sandbox at tick 3 in which one of two jobs waits."""
    jobs = [job(f"train-{n}", queue="main", cpu="4", runtime="9s") for n in range(2)]
    second = local_queue("second", cluster_queue="main")
    sandbox = make(*small_cluster(cpu="4"), second, *jobs)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 3)
    return row(sandbox)


@pytest.fixture(scope="module")
def described():
    return document()


def test_the_page_shows_every_operation_to_everybody(client, described):
    client.force_authenticate(None)
    answer = client.get("/api/v1/docs")
    assert answer["Content-Type"] == "text/html; charset=utf-8"
    shown = answer.content.decode()
    missing = [
        o.name for o in operations_of(described) if f'id="{o.name}"' not in shown
    ]
    assert missing == []


def test_what_is_read_of_a_sandbox_is_asked_for_as_it_is_shown(
    client, queue, described
):
    wrong = []
    for one in operations_of(described):
        if one.method != "GET" or not set(one.places) <= {"sandbox_id"}:
            continue
        if any(field.required for field in one.query):
            continue
        line = curl(one)
        path = line.partition('"$API')[2].partition('"')[0].replace("$ID", queue.pk)
        code = client.get(f"/api/v1{path}").status_code
        if not (200 <= code < 300 or (one.name in OF_OTHERS and code in (404, 409))):
            wrong.append(f"{one.name}: {code}: {line}")
    assert wrong == []


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_is_shown_is_taken(client, queue, described, name):
    (one,) = (one for one in operations_of(described) if one.name == name)
    line = curl(one)
    path = line.partition('"$API')[2].partition('"')[0].replace("$ID", queue.pk)
    for place, value in QUEUE.items():
        path = path.replace(place, value)
    body = json.loads(line.partition("--json '")[2].rpartition("'")[0])
    answer = client.generic(
        one.method, f"/api/v1{path}", json.dumps(body), "application/json"
    )
    assert 200 <= answer.status_code < 300, answer.content


def test_the_client_takes_each_call_that_is_shown(described):
    client, wrong = Client(), []
    for one in operations_of(described):
        asked = ast.parse(call(one), mode="eval").body
        words = {word.arg: word.value for word in asked.keywords}
        try:
            method = operator.attrgetter(ast.unparse(asked.func)[len("client.") :])(
                client
            )
            inspect.signature(method).bind(*asked.args, **words)
        except (AttributeError, TypeError) as problem:
            wrong.append(f"{call(one)}: {problem}")
    assert wrong == []


def test_no_text_of_the_document_becomes_html():
    operation = {
        "operationId": "x",
        "description": "Return <script>alert(1)</script> & more.",
        "responses": {"200": {"description": ""}},
    }
    made = {"paths": {"/api/v1/x": {"get": operation}}, "components": {"schemas": {}}}
    shown = page(reference(made), "style.css")
    assert "<script>" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more." in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_a_line_that_is_shown_is_one_that_the_command_takes(described, name):
    assert name in {one.name for one in operations_of(described)}
    words = COMMANDS[name].replace("$TOKEN_ID", "3").split()
    # A verb of files alone has a parser of its own.
    parse = parser().parse_args if VERBS[words[1]].do else parser().parse_known_args
    found = parse(words[1:])
    assert getattr(found, "verb", None) == words[1] or found[0].verb == words[1]


def test_every_verb_of_the_command_stands_with_an_operation():
    shown = {line.split()[1] for line in COMMANDS.values()}
    of_sandboxes = {name for name, verb in VERBS.items() if verb.do is not None}
    assert of_sandboxes - shown == NO_OPERATION
