"""A cluster's API, asked by the official Python client: who follows sends only GET.

Source: <https://kubernetes.io/docs/reference/using-api/api-concepts/>
"""

from __future__ import annotations

import contextlib
import email.utils
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import msgspec

from sandbox.base.errors import SandboxError
from scheduler.input.manifests.releases import release_of_image
from scheduler.model.releases.release import Scheduler, canonical

#: Objects of one page of a list.
PAGE = 500
#: A server ends a watch after so long, and it is begun again. A server checks permissions
#: only when a watch begins, so this is how late a permission that was taken away shows.
WATCH_S = 60
CONNECT_S, READ_S = 10, 60

Json = dict[str, Any]


class ClusterError(SandboxError):
    """The cluster did not answer as asked; `code` is its HTTP status, or 0."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Cluster:
    """One cluster, with the rights of a kubeconfig's context or of the pod we run in."""

    def __init__(self, api: Any) -> None:
        self.api = api
        self._watches: set[Any] = set()

    @classmethod
    def of_kubeconfig(cls, path: str | None, context: str | None) -> Self:
        """Return the cluster of a context; the current one of the usual file if None.

        Raises ClusterError when there is no such file or context.
        """
        # The client takes two seconds to import: only who follows pays for it.
        from kubernetes import client, config

        found = client.Configuration()
        try:
            config.load_kube_config(path, context, found, persist_config=False)
        except (config.ConfigException, OSError) as error:
            place = path or os.environ.get("KUBECONFIG") or "~/.kube/config"
            raise ClusterError(f"kubeconfig {place}: {error}") from error
        return cls.of_configuration(found)

    @classmethod
    def of_pod(cls) -> Self:
        """Return the cluster whose pod this process runs in; ClusterError if in none."""
        from kubernetes import client, config

        found = client.Configuration()
        try:
            config.load_incluster_config(client_configuration=found)
        except config.ConfigException as error:
            raise ClusterError(f"in-cluster: {error}") from error
        return cls.of_configuration(found)

    @classmethod
    def of_configuration(cls, configuration: Any) -> Self:
        """Return the cluster of a configuration of the official client."""
        from kubernetes import client

        make_lasting(configuration)
        return cls(client.ApiClient(configuration))

    @property
    def address(self) -> str:
        """Return the address of the cluster's API."""
        return str(self.api.configuration.host)

    def get(self, path: str, **query: str) -> Json:
        """Return a JSON answer. Raises ClusterError."""
        with self._answer(path, query, READ_S) as response:
            return dict(msgspec.json.decode(response.read(decode_content=True)))

    def skew_ms(self) -> int:
        """Return the server's clock less ours, by its Date; 0 when within 2 s."""
        with self._answer("/version", {}, READ_S) as response:
            stamp = email.utils.parsedate_to_datetime(response.headers["Date"])
        skew = round(1000 * (stamp.timestamp() - time.time()))
        return skew if abs(skew) > 2000 else 0

    def pages(self, path: str) -> Iterator[Json]:
        """Yield the pages of a list. Raises ClusterError; 410 when it took too long."""
        follows = ""
        while True:
            page = self.get(path, limit=str(PAGE), **{"continue": follows})
            yield page
            follows = page["metadata"].get("continue") or ""
            if not follows:
                return

    def watch(
        self, path: str, version: str, opened: Callable[[], None]
    ) -> Iterator[Json]:
        """Yield events after a resourceVersion until the server ends the watch.

        `opened` is called when the server took it, before the first event. Raises
        ClusterError, also for an ERROR event: its code is the Status's.
        """
        query = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH_S),
        }
        with self._answer(path, query, WATCH_S + READ_S) as response:
            self._watches.add(response)
            opened()
            try:
                yield from map(_event, _lines(response))
            finally:
                self._watches.discard(response)

    def end_watches(self) -> None:
        """End the watches that are open, from another thread."""
        for response in list(self._watches):
            with contextlib.suppress(OSError, ValueError):
                response.shutdown()

    def _answer(self, path: str, query: Mapping[str, str], read_s: float) -> _Answer:
        return _Answer(self.api, path, query, read_s)


class WritableCluster(Cluster):
    """A cluster that is there to be tried on: objects may be made and deleted."""

    def send(
        self, method: str, path: str, body: Any, media: str = "application/json"
    ) -> tuple[int, Any]:
        """Return the code and the body of an answer, also of a refusal.

        A body that is no JSON is `{"message": its text}`. Raises ClusterError when
        nobody answers.
        """
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = media
        try:
            answer = self.api.call_api(
                path,
                method,
                header_params=headers,
                body=body,
                auth_settings=["BearerToken"],
                _preload_content=False,
                _return_http_data_only=True,
                _request_timeout=(CONNECT_S, READ_S),
            )
            code, text = answer.status, answer.read(decode_content=True)
            answer.release_conn()
        except ApiException as error:
            if not error.status:
                raise ClusterError(f"{path}: {error.reason}") from error
            code, text = error.status, error.body
        except (HTTPError, OSError) as error:
            raise ClusterError(f"{path}: {error}") from error
        try:
            return code, msgspec.json.decode(text) if text else None
        except msgspec.MsgspecError:
            return code, {"message": str(text)}


class _Answer:
    """One answer; closes its connection at the end."""

    def __init__(
        self, api: Any, path: str, query: Mapping[str, str], read_s: float
    ) -> None:
        self.asked = api, path, [(k, v) for k, v in query.items() if v], read_s
        self.response: Any = None

    def __enter__(self) -> Any:
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        api, path, query, read_s = self.asked
        try:
            self.response = api.call_api(
                path,
                "GET",
                query_params=query,
                header_params={"Accept": "application/json"},
                auth_settings=["BearerToken"],
                _preload_content=False,
                _return_http_data_only=True,
                _request_timeout=(CONNECT_S, read_s),
            )
        except ApiException as error:
            raise ClusterError(
                f"{path}: {_reason(error)}", error.status or 0
            ) from error
        except (HTTPError, OSError) as error:
            raise ClusterError(f"{path}: {error}") from error
        return self.response

    def __exit__(self, _type: object, error: object, _trace: object) -> None:
        from urllib3.exceptions import HTTPError

        self.response.close()
        if isinstance(error, (HTTPError, OSError, msgspec.MsgspecError)):
            raise ClusterError(f"{self.asked[1]}: {error}") from error


def _reason(error: Any) -> str:
    """Return the Status's sentence, or what HTTP says."""
    try:
        return str(msgspec.json.decode(error.body or b"")["message"])
    except (msgspec.MsgspecError, KeyError, TypeError):
        return f"{error.status} {error.reason}"


def _event(line: bytes) -> Json:
    event = msgspec.json.decode(line)
    if event["type"] == "ERROR":
        status = event["object"]
        raise ClusterError(status.get("message", ""), status.get("code", 0))
    return dict(event)


def _lines(response: Any) -> Iterator[bytes]:
    rest = b""
    for chunk in response.stream(65536, decode_content=True):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line for line in whole if line)


# ------------------------------------------------------------------------
# How connections to a cluster are kept: many, long silent, and noticed when dead.


#: One for each kind that is watched, and some to ask with.
MOST_CONNECTIONS = 64
#: A watch may be silent for minutes, also when a network forgot it: the kernel asks
#: after so many idle seconds, so often, and ends it after so many unanswered ones.
_KEPT_ALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4}


def make_lasting(configuration: Any) -> None:
    """Set a configuration of the official client for watches of many kinds."""
    configuration.connection_pool_maxsize = MOST_CONNECTIONS
    # Who follows tries again, and says so: urllib3 would warn four times before.
    configuration.retries = False
    configuration.socket_options = [
        (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),  # urllib3's own
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        *(
            (socket.IPPROTO_TCP, getattr(socket, name), value)
            for name, value in _KEPT_ALIVE.items()
            if hasattr(socket, name)  # not everywhere
        ),
    ]


# ------------------------------------------------------------------------
# Which releases a cluster runs, by what it says of itself.


_KUEUE_PODS = "/api/v1/namespaces/kueue-system/pods"


def releases_of(cluster: Cluster) -> dict[str, str]:
    """Return the releases that decide in a cluster; what it does not say is left out.

    That of Kubernetes is its API server's, that of Kueue the tag of its manager's image.
    One that is not known here is left out, too.
    """
    found = dict(_said(cluster))
    known = {name: canonical(name, text) for name, text in found.items()}
    return {name: version for name, version in known.items() if version is not None}


def _said(cluster: Cluster) -> Iterator[tuple[Scheduler, str]]:
    """Yield what a cluster says; what may not be read says nothing."""
    version = str(cluster.get("/version").get("gitVersion") or "")
    yield "kubernetes", version.partition("+")[0].partition("-")[0]
    try:
        pods = cluster.get(_KUEUE_PODS, limit="50")["items"]
    except ClusterError as error:
        if error.code in (403, 404):
            return
        raise
    for pod in pods:
        for container in pod["spec"].get("containers") or ():
            found = release_of_image(str(container.get("image") or ""))
            if found is not None:
                yield found
