"""Lines for a shell that bring somebody's cluster: read-only, with kubectl alone, no secrets.

What is read are the kinds that decide something here, and three ConfigMaps. Values of
`env`, `envFrom`, what `kubectl apply` keeps of a manifest, and a Ray runtime environment
are cut out before anything is written. Secrets are not asked for.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from scheduler.input.manifests import kinds

PACKAGE = "cluster.yaml.gz"
STATE = "yunikorn-state.json"
_CONFIG_MAPS = ("kueue-manager-config", "yunikorn-defaults", "yunikorn-configs")
_OURS = "quotalab.dev"
#: Kept, and read for the pods that it selects: they are spread, and may serve a webhook.
_BESIDE = ("services",)
#: Kinds of groups whose plural this API does not serve, by name.
_ELSEWHERE = ("podgroups.scheduling.k8s.io", "workloads.scheduling.k8s.io")
#: Fields whose values are cut out: lists and maps, and texts.
_CUT = (
    ("env|envFrom", "[]"),
    (r"kubectl\.kubernetes\.io\/last-applied-configuration|runtimeEnvYAML", '\\"\\"'),
)
#: Cuts a field with all that is below it; what kubectl prints has lists at their key.
_FILTER = (
    "BEGIN{k=-1}"
    "{i=match($0,/[^ ]/)-1;t=substr($0,i+1);"
    "if(k>=0&&(i<0||i>k||(i==k&&t~/^- /)))next;"
    "k=-1;c=i;while(t~/^- /){t=substr(t,3);c+=2}"
    + "".join(
        f'if(t~/^({names}):/){{sub(/:.*/,": {empty}");k=c}}' for names, empty in _CUT
    )
    + "print}"
)


def resources() -> list[str]:
    """Return the resource names to read, as `kubectl api-resources -o name` prints them."""
    found = {
        f"{kind.plural}.{kind.group}" if kind.group else kind.plural
        for kind in kinds.TABLE
        if kind.level == "simulated" and kind.plural and kind.group != _OURS
    }
    return sorted({*found, *_BESIDE, *_ELSEWHERE})


def cluster_line() -> str:
    """Return the line that writes PACKAGE: objects of a cluster, nothing secret."""
    names = "|".join(resources()).replace(".", r"\.")
    maps = " ".join(_CONFIG_MAPS)
    return (
        "{ kubectl api-resources --verbs=list -o name | grep -Ex "
        f"{shlex.quote(names)} | while read -r k; do "
        'kubectl get "$k" -A -o yaml </dev/null; echo ---; done; '
        f"for n in {maps}; do kubectl get configmaps -A --field-selector "
        '"metadata.name=$n" -o yaml; echo ---; done; } | '
        f"awk '{_FILTER}' | gzip > {PACKAGE}"
    )


def yunikorn_line() -> str:
    """Return the line that writes STATE: what YuniKorn says of itself."""
    return (
        "kubectl get --raw /api/v1/namespaces/yunikorn/services/"
        f"yunikorn-service:9080/proxy/ws/v1/fullstatedump > {STATE}"
    )


def git_lines(url: str, ref: str, path: str) -> Iterator[str]:
    """Yield the lines for a GitOps repository at a commit: rendered, or as it is."""
    at = f"{url.removesuffix('/')}//{path.strip('/')}?ref={ref}"
    yield f"kubectl kustomize {shlex.quote(at)} > cluster.yaml"
    folder = shlex.quote(path.strip("/") or ".")
    yield (
        f"git archive --format=tar.gz -o cluster.tar.gz {shlex.quote(ref)} -- {folder}"
    )
