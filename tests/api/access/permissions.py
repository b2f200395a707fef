"""Every route, and what it takes to get through: the table that the routes are held to.

A line is a route and its methods, each with the power that it needs over the
sandbox (look, fork, edit, own; self = to have signed in; open = nothing) and, where
it is not "read" for GET and "write" for the rest, the scope that a token needs. Which
role has which power is in `roles.py`.
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
    "actions/cluster": "post edit",
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
    "<path:rest>": "get look, post look read",
    "script": "get look, put edit",
    "script/file": "get look",
    "imports": "get look",
    "incident": "post look read",
    "shadow": "get look",
    "shadow/<int:event>": "get look",
    "policy": "get look, put edit, patch edit",
    "policy/profiles": "get look",
    "objects/<str:kind>/<str:namespace>/<str:name>": "get look, put edit, patch edit, delete edit",
    "tables/<str:table>": "get look",
    "events": "get look",
    "events/<str:place>/film": "get look",
    "events/<str:place>/reproduction": "get look",
    "preemptions": "get look",
    "preemptions/<str:place>": "get look",
    "explain/<str:namespace>/<str:name>": "get look",
    "explain/<str:namespace>/<str:name>/counterfactuals": "get look",
    "explain/<str:namespace>/<str:name>/film": "get look",
    "capacity": "get look",
    "fairness": "get look",
    "forecast": "get look, post look read",
    "forecasts": "get look, post look read",
    "forecasts/<int:forecast_id>": "get look",
    "pair": "get look",
    "what-ifs": "get look, post look read",
    "what-ifs/<int:what_if_id>": "get look",
    "what-ifs/<int:what_if_id>/keep": "post edit",
    "what-ifs/<int:what_if_id>/discard": "post edit",
    "what-ifs/<int:what_if_id>/patch": "post look read",
    "compare": "get look",
    "disk": "get look",
    "archive": "get fork",
    "samples": "get look",
    "state": "get look",
    "hash": "get look",
    "export": "get look",
    "metrics": "get look",
    "healthz": "get look",
    "healthz/ping": "get look",
    "livez": "get look",
    "livez/ping": "get look",
    "readyz": "get look",
    "readyz/ping": "get look",
    "version": "get look",
    "apis/authentication.k8s.io/v1/selfsubjectreviews": "post look read",
    "api": "get look",
    "apis": "get look",
    "api/<str:version>": "get look",
    "apis/<str:group>": "get look",
    "apis/<str:group>/<str:version>": "get look",
    "apis/visibility.kueue.x-k8s.io/<str:version>/clusterqueues/<str:name>/pendingworkloads": "get look",
    "apis/visibility.kueue.x-k8s.io/<str:version>/namespaces/<str:namespace>/localqueues/<str:name>/pendingworkloads": "get look",
    "openapi/v2": "get look",
    "openapi/v3": "get look",
    "openapi/v3/api/<str:version>": "get look",
    "openapi/v3/apis/<str:group>/<str:version>": "get look",
    "apis/authorization.k8s.io/v1/selfsubjectaccessreviews": "post look read",
    "apis/authorization.k8s.io/v1/selfsubjectrulesreviews": "post look read",
    "api/<str:version>/namespaces/<str:name>/status": "get look, put edit, patch edit",
    "api/v1/namespaces/<str:namespace>/pods/<str:name>/eviction": "post edit",
    "api/v1/namespaces/<str:namespace>/pods/<str:name>/log": "get look",
    "api/v1/namespaces/<str:namespace>/pods/<str:name>/ephemeralcontainers": "get look, put edit, patch edit",
    "api/v1/namespaces/<str:namespace>/pods/<str:name>/attach": "get look, post look read",
    "api/v1/namespaces/<str:namespace>/pods/<str:name>/exec": "get look, post look read",
    "api/v1/namespaces/<str:namespace>/pods/<str:name>/portforward": "get look, post look read",
    "api/v1/namespaces/<str:namespace>/pods/<str:name>/binding": "post edit",
    "apis/<str:group>/<str:version>/namespaces/<str:namespace>/<str:plural>/<str:name>/scale": "get look, put edit, patch edit",
    "ws/v1/clusters": "get look",
    "ws/v1/partitions": "get look",
    "ws/v1/partition/<str:partition>/queues": "get look",
    "ws/v1/partition/<str:partition>/queue/<str:queue>": "get look",
    "ws/v1/partition/<str:partition>/queue/<str:queue>/applications": "get look",
    "ws/v1/partition/<str:partition>/queue/<str:queue>/applications/<str:state>": "get look",
    "ws/v1/partition/<str:partition>/queue/<str:queue>/application/<str:application>": "get look",
    "ws/v1/partition/<str:partition>/application/<str:application>": "get look",
    "ws/v1/partition/<str:partition>/applications/<str:state>": "get look",
    "ws/v1/partition/<str:partition>/nodes": "get look",
    "ws/v1/partition/<str:partition>/node/<str:name>": "get look",
    "ws/v1/partition/<str:partition>/placementrules": "get look",
    "ws/v1/partition/<str:partition>/usage/users": "get look",
    "ws/v1/partition/<str:partition>/usage/user/<str:name>": "get look",
    "ws/v1/partition/<str:partition>/usage/groups": "get look",
    "ws/v1/partition/<str:partition>/usage/group/<str:name>": "get look",
    "ws/v1/scheduler/healthcheck": "get look",
    "ws/v1/scheduler/node-utilization": "get look",
    "ws/v1/scheduler/node-utilizations": "get look",
    "ws/v1/history/apps": "get look",
    "ws/v1/history/containers": "get look",
    "ws/v1/events/batch": "get look",
    "ws/v1/fullstatedump": "get look",
    "debug/fullstatedump": "get look",
    "ws/v1/validate-conf": "post look read",
    "ws/v1/config": "get look",
}

_OBJECTS = {
    "{plural}": "get look, post edit, delete edit",
    "{plural}/{name}": "get look, put edit, patch edit, delete edit",
    "{plural}/{name}/status": "get look, put edit, patch edit",
    "{plural}/{name}/{path:rest}": "get look read, post look read",
}


def _route(path: str) -> str:
    """Return a path as Django writes it; a field is a text where it has no type."""
    whole = path.replace("{path:", "<path:").replace("{", "<str:")
    return whole.replace("}", ">")


ONE |= {
    _route(f"{root}/{space}{tail}"): methods
    for root in ("api/{version}", "apis/{group}/{version}")
    for space in ("", "namespaces/{namespace}/")
    for tail, methods in _OBJECTS.items()
}

ONE |= {
    _route(f"{root}/watch/{space}{tail}"): "get look"
    for root in ("api/{version}", "apis/{group}/{version}")
    for space in ("", "namespaces/{namespace}/")
    for tail in ("{plural}", "{plural}/{name}")
}

#: Everything else.
OTHERS: dict[str, str] = {
    "api/v1/sandboxes/<str:sandbox_id>/": "get look",
    "healthz": "open",
    "api/v1/answers/<int:answer_id>": "get self",
    "readyz": "open",
    "metrics": "get self",
    "metrics/service": "get self",
    "api/v1/": "get open",
    "api/v1/schema": "get open",
    "api/v1/docs": "get open",
    "api/v1/me": "get self",
    "api/v1/tokens": "get self admin, post self admin",
    "api/v1/tokens/<int:token_id>": "delete self admin",
    "api/v1/shares/open": "post self",
    "api/v1/embeds/<str:secret>/<str:place>/film": "get open",
    "api/v1/lessons/join": "post self",
    "api/v1/registry": "get self",
    "api/v1/scenarios": "get self",
    "api/v1/archives": "post self",
    "api/v1/traces/preview": "post self read",
    "api/v1/conversions": "post self read",
    "api/v1/imports/dry": "post self read",
    "api/v1/disk": "get self",
    "api/v1/clusters": "get self",
    "api/v1/twins": "post self",
    "api/v1/sandboxes": "get self, post self",
    "api/v1/experiments": "get self, post self",
    "api/v1/experiments/<str:experiment_id>": "get look, delete own admin",
    "api/v1/experiments/<str:experiment_id>/cancel": "post own",
    "api/v1/experiments/<str:experiment_id>/patches.yaml": "get look",
    "api/v1/experiments/<str:experiment_id>/report.html": "get look",
    "api/v1/experiments/<str:experiment_id>/report.md": "get look",
    "api/v1/experiments/<str:experiment_id>/take": "post own",
    "api/v1/experiments/estimate": "post self read",
    "api/v1/experiments/<str:experiment_id>/compare": "get look",
    "api/v1/experiments/<str:experiment_id>/results": "get look",
    "api/v1/experiments/<str:experiment_id>/results.csv": "get look",
    "api/v1/experiments/<str:experiment_id>/runs/<int:run>/open": "post look",
    "embed/<str:secret>/<str:place>": "open",
    "sign-in": "open",
    "sign-in/provider": "open",
    "sign-in/provider/back": "open",
    "sign-out": "open",
    "": "open",
    "^(?:s|join|share|account|lessons|experiments|compare|scenarios)(?:/.*)?$": "open",
}
