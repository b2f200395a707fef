"""Every route, and what it takes to get through: the table that the doors are held to.

A line is a route and its methods, each with the power that it needs over the
sandbox (look, fork, edit, own; self = to have signed in; open = nothing) and, where
it is not "read" for GET and "write" for the rest, the scope that a token needs.
"""

from __future__ import annotations

#: Below `api/v1/sandboxes/ID`.
ONE: dict[str, str] = {
    "": "get look, patch edit admin, delete own admin",
    "actions/play": "post edit",
    "actions/pause": "post edit",
    "actions/speed": "post edit",
    "actions/step": "post edit",
    "actions/import": "post edit",
    "actions/apply": "post edit",
    "actions/delete": "post edit",
    "actions/move": "post edit",
    "actions/node": "post edit",
    "actions/pin": "post edit",
    "actions/fork": "post fork",
    "actions/convert": "post fork",
    "actions/rewind": "post edit",
    "actions/undo": "post edit",
    "actions/redo": "post edit",
    "actions/archive": "post own",
    "actions/unarchive": "post own",
    "members": "get own admin",
    "members/<str:username>": "put own admin, delete own admin",
    "shares": "get own admin, post own admin",
    "shares/<int:link_id>": "delete own admin",
    "audit": "get own admin",
    "lesson": "get look, post own admin, put own, delete own admin",
    "lesson/followers/<str:follower>": "put look",
    "policy": "get look, put edit, patch edit",
    "objects/<str:kind>/<str:namespace>/<str:name>": "get look, put edit, patch edit, delete edit",
    "tables/<str:table>": "get look",
    "events": "get look",
    "events/<str:place>/reproduction": "get look",
    "preemptions": "get look",
    "preemptions/<str:place>": "get look",
    "explain/<str:namespace>/<str:name>": "get look",
    "explain/<str:namespace>/<str:name>/counterfactuals": "get look",
    "fairness": "get look",
    "whatif": "post look read",
    "compare": "get look",
    "disk": "get look",
    "archive": "get look",
    "samples": "get look",
    "state": "get look",
    "hash": "get look",
    "export": "get look",
    "metrics": "get look",
    "version": "get look",
    "api": "get look",
    "apis": "get look",
    "api/<str:version>": "get look",
    "apis/<str:group>": "get look",
    "apis/<str:group>/<str:version>": "get look",
    "apis/visibility.kueue.x-k8s.io/<str:version>/clusterqueues/<str:name>/pendingworkloads": "get look",
    "apis/visibility.kueue.x-k8s.io/<str:version>/namespaces/<str:namespace>/localqueues/<str:name>/pendingworkloads": "get look",
    "api/v1/namespaces/<str:namespace>/pods/<str:name>/eviction": "post edit",
    "api/v1/namespaces/<str:namespace>/pods/<str:name>/binding": "post edit",
    "apis/<str:group>/<str:version>/namespaces/<str:namespace>/<str:plural>/<str:name>/scale": "get look, put edit, patch edit",
    "ws/v1/clusters": "get look",
    "ws/v1/partitions": "get look",
    "ws/v1/partition/<str:partition>/queues": "get look",
    "ws/v1/partition/<str:partition>/queue/<str:queue>": "get look",
    "ws/v1/partition/<str:partition>/queue/<str:queue>/applications": "get look",
    "ws/v1/partition/<str:partition>/queue/<str:queue>/applications/<str:state>": "get look",
    "ws/v1/partition/<str:partition>/applications/<str:state>": "get look",
    "ws/v1/partition/<str:partition>/nodes": "get look",
    "ws/v1/partition/<str:partition>/usage/users": "get look",
    "ws/v1/scheduler/healthcheck": "get look",
    "ws/v1/config": "get look",
}

_OBJECTS = {
    "{plural}": "get look, post edit, delete edit",
    "{plural}/{name}": "get look, put edit, patch edit, delete edit",
    "{plural}/{name}/status": "get look, put edit, patch edit",
}
ONE |= {
    f"{root}/{space}{tail}".replace("{", "<str:").replace("}", ">"): methods
    for root in ("api/{version}", "apis/{group}/{version}")
    for space in ("", "namespaces/{namespace}/")
    for tail, methods in _OBJECTS.items()
}

#: Everything else.
OTHERS: dict[str, str] = {
    "healthz": "open",
    "readyz": "open",
    "metrics": "get self",
    "api/v1/schema": "get open",
    "api/v1/me": "get self",
    "api/v1/tokens": "get self admin, post self admin",
    "api/v1/tokens/<int:token_id>": "delete self admin",
    "api/v1/shares/open": "post self",
    "api/v1/lessons/join": "post self",
    "api/v1/registry": "get self",
    "api/v1/scenarios": "get self",
    "api/v1/archives": "post self",
    "api/v1/disk": "get self",
    "api/v1/sandboxes": "get self, post self",
    "api/v1/experiments": "get self, post self",
    "api/v1/experiments/<str:experiment_id>": "get look, delete own admin",
    "api/v1/experiments/<str:experiment_id>/cancel": "post own",
    "api/v1/experiments/<str:experiment_id>/compare": "get look",
    "api/v1/experiments/<str:experiment_id>/results": "get look",
    "api/v1/experiments/<str:experiment_id>/results.csv": "get look",
    "api/v1/experiments/<str:experiment_id>/runs/<int:run>/open": "post look",
    "sign-in": "open",
    "sign-in/provider": "open",
    "sign-in/provider/back": "open",
    "sign-out": "open",
    "": "open",
    "^(?:s|join|lessons|experiments|compare|scenarios)(?:/.*)?$": "open",
}
