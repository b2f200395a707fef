"""What repairs a finding of an import, in words."""

from __future__ import annotations

from scheduler.model.sentence import Words


class Repairing(Words):
    """A document to add, or a text to put in place of another."""

    ADD = ("repair.add", "Add {kind} {name}")
    ADD_QUEUE = (
        "repair.addQueue",
        "Add LocalQueue {name} in namespace {namespace} for ClusterQueue {queue}",
    )
    ADD_CLASS = ("repair.addClass", "Add {kind} {name} with value 0")
    ADD_NAMESPACE = ("repair.addNamespace", "Add Namespace {name} with {labels}")
    ADD_TOPOLOGY = ("repair.addTopology", "Add Topology {name} with levels {levels}")
    ADD_CHECK = (
        "repair.addCheck",
        "Add AdmissionCheck {name}, which is ready at once",
    )
    ADD_NODES = (
        "repair.addNodes",
        "Add the node, as large as what runs on it|"
        "Add the {n} nodes, each as large as what runs on it",
    )
    ADD_NODES_OF = (
        "repair.addNodesOf",
        "Add a node of {each} {resource}, by the quota of the flavors|"
        "Add {n} nodes of {each} {resource}, by the quota of the flavors",
    )
    REPLACE = ("repair.replace", "Write {new} instead of {old}")
