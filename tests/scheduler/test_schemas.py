"""One schema of every kind's fields: whole, and as the client of Kubernetes knows it."""

from __future__ import annotations

import re

import kubernetes.client

from scheduler.model import schemas
from scheduler.model.schemas.faults import What, faults_of, fill
from scheduler.words.effects import Effect

TYPES = schemas.types()
PLAIN = {
    *("any", "bool", "bytes", "double", "int32", "int64", "string"),
    *("FieldsV1", "IntOrString", "MicroTime", "Quantity", "RawExtension", "Time"),
}
NEWEST = "kueue.x-k8s.io.v1beta2."


def every_field():
    for type_, fields in TYPES.items():
        for name, field in fields.items():
            if name:
                yield type_, name, field


def test_each_type_that_a_field_names_has_fields_or_is_plain():
    named = {schemas.bare(schemas.bare(one.type)) for _, _, one in every_field()}
    assert named - PLAIN <= set(TYPES)


def test_no_type_lacks_what_the_client_of_kubernetes_knows():
    lost = []
    for type_, fields in TYPES.items():
        name = type_.rpartition(".")[2]
        model = getattr(kubernetes.client, f"V1{name}", None)
        if type_.split(".")[-2:-1] != ["v1"] or model is None:
            continue
        lost += [
            f"{type_}.{one}" for one in set(model.attribute_map.values()) - {*fields}
        ]
    assert lost == []


def test_what_is_kept_and_not_followed_says_what_that_changes():
    codes = {field.unread for _, _, field in every_field()} - {""}
    assert codes <= {one.value for one in Effect}


def test_a_field_of_an_older_version_is_as_the_newest_has_it_but_for_what_differs():
    older = schemas.fields_of("kueue.x-k8s.io.v1beta1.ClusterQueue.spec")
    newest = schemas.fields_of(f"{NEWEST}ClusterQueue.spec")
    assert older["stopPolicy"] == newest["stopPolicy"]
    assert older["cohort"].now == "cohortName"
    assert older["cohort"].said == newest["cohortName"].said
    assert "cohortName" not in older
    assert "admissionChecks" in older.keys() - newest.keys()


def test_what_an_older_field_became_is_a_field_of_the_newest():
    for type_, name, field in every_field():
        if field.now:
            *above, last = f"{type_}.{field.now}".split(".")
            holder = ".".join(above).replace(".v1beta1.", ".v1beta2.")
            assert last in schemas.fields_of(holder), f"{type_}.{name}"
            assert type_.count(".") == NEWEST.count(".") + 1  # of spec or status


def test_a_meaning_is_one_sentence_or_a_list_of_words():
    for type_, name, field in every_field():
        if field.said:
            assert re.fullmatch(r"[A-Z].*\.", field.said), f"{type_}.{name}"


def test_every_text_of_kueues_kinds_is_a_name_or_says_what_else_it_is():
    texts = ("string", "[]string", "map string")
    silent = [
        f"{type_}.{name}"
        for type_, name, field in every_field()
        if type_.startswith("kueue.") and field.type in texts and field.enum is None
        if not (field.is_name or field.holds)
        if name not in ("apiVersion", "kind")
    ]
    assert silent == []


def test_a_fault_is_found_where_it_stands():
    spec = {"stopPolicy": "Held", "fairSharing": {"weight": "one"}, "queue": "q"}
    found = faults_of({"spec": spec}, f"{NEWEST}LocalQueue")
    assert [(one.what, one.path) for one in found] == [
        (What.ENUM, "spec.stopPolicy"),
        (What.QUANTITY, "spec.fairSharing.weight"),
        (What.UNKNOWN, "spec"),
    ]


def test_defaults_are_written_into_what_is_given_and_into_what_a_default_makes():
    spec = {"preemption": {"withinClusterQueue": "LowerPriority"}, "fairSharing": {}}
    queue = {"spec": spec}
    fill(queue, f"{NEWEST}ClusterQueue")
    assert queue["spec"]["fairSharing"] == {"weight": 1}
    assert queue["spec"]["preemption"] == {
        "withinClusterQueue": "LowerPriority",
        "reclaimWithinCohort": "Never",
        "borrowWithinCohort": {"policy": "Never"},
    }
