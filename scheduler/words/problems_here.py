"""Problems that one place alone finds in a field, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words


class ProblemHere(Words):
    """What is wrong with one field of one kind."""

    BOTH_READ = (
        "problem.bothRead",
        "{names} would both be read as {known}, which has one strategy; keep one of them",
    )
    SYSTEM_CONSTRAINTS = (
        "problem.systemConstraints",
        "defaultConstraints are given, and defaultingType is System: say List to use them",
    )
    DEFAULT_SELECTOR = (
        "problem.defaultSelector",
        "labelSelector is given; default constraints select by what selects the pod, leave it out",
    )
    WRAPPED = (
        "problem.wrapped",
        "podSets path {path}: expected a pod template there in a component, found nothing",
    )
    SAME_LABEL = (
        "problem.sameLabel",
        "label {label}: expected {literal} as on {other}, got {given}",
    )
    VALUES_FOR = ("problem.valuesFor", "expected values for {operator}")
    NO_VALUES_FOR = ("problem.noValuesFor", "expected no values for {operator}")
    RECLAIMABLE_STAYS = (
        "problem.reclaimableStays",
        "expected podset {name} to stay, as its pods were given back and quota is held",
    )
    RECLAIMABLE_LEAST = (
        "problem.reclaimableLeast",
        "expected no less than the {least} pods of {name} already given back while quota is held, got {given}",
    )
    ONE_PARTITION = (
        "problem.onePartition",
        "expected one named {literal}, got {given}: on Kubernetes every node and application belongs to it",
    )
    TASK_GROUPS = (
        "problem.taskGroups",
        "expected a JSON list of task groups with name, minMember and minResource: {problem}",
    )
    LAYERS = (
        "problem.layers",
        "expected JSON: 1 to {most} objects of topology and size",
    )
    WITH_IT = ("problem.withIt", "expected {first} or {last} with it")
    GATES = ("problem.gates", "gates are only taken away once the pod is there")
    USERS = (
        "problem.users",
        "expected users and groups with one blank between, got {given}",
    )
    EXPRESSION = (
        "problem.expression",
        "expected a name or a regular expression, got {given}",
    )
    NAMED_GROUP = (
        "problem.namedGroup",
        "expected a named group before the group '*'",
    )
    TO_MERGE = ("problem.toMerge", "expected a JSON object to merge")
    REVISION = ("problem.revision", "expected revision.seq, got {given}")
    NEAR_PARAMETER = (
        "problem.nearParameter",
        "unknown parameter; did you mean {near}?",
    )
    SCENARIO = ("problem.scenario", "scenario {name} cannot be read: {problem}")
