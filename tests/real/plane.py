"""A control plane on loopback: etcd, API server, controllers, scheduler and Kueue."""

from __future__ import annotations

import base64
import contextlib
import copy
import os
import signal
import socket
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from api.proving.playing import FRAMEWORKS
from tests.real import certificates
from tests.real.asking import Api
from tests.real.building import Programs, definition_of
from tests.real.kubelet import Kubelet

Document = dict[str, Any]
#: Who may ask, by token: the administrator, each controller, the stub of a kubelet.
_TOKENS = """\
admin-token,kubernetes-admin,admin,"system:masters"
controllers-token,system:kube-controller-manager,controllers
scheduler-token,system:kube-scheduler,scheduler
kueue-token,system:serviceaccount:kueue-system:kueue-controller-manager,kueue,\
"system:serviceaccounts,system:serviceaccounts:kueue-system"
kubelet-token,system:node:kubelet,kubelet,"system:nodes"
"""
#: No cloud, no network, no disks, and no life of nodes: nobody sends heartbeats.
_CONTROLLERS = (
    "job-controller",
    "cronjob-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "daemonset-controller",
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "pod-garbage-collector-controller",
    "disruption-controller",
    "ttl-after-finished-controller",
    "resourcequota-controller",
)
_WITHOUT = ("kube-system", "kueue-system")
#: Whose webhooks leave these namespaces alone, as Kueue's own manifests have it.
_OF_PODS = ("pod", "deployment", "statefulset")
_PATIENCE_S, _LOOK_EVERY_S = 180.0, 0.3
#: Of two versions of the others the fields are the same.
_CONVERTED = ("ClusterQueue", "Cohort", "LocalQueue", "MultiKueueCluster", "Workload")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"


class PlaneError(Exception):
    """The control plane did not start or died; the message names the log."""


class Plane:
    """A running control plane; a context manager that ends all of it.

    `folder` gets its data, logs and kubeconfigs; `port` is the first of nine.
    `frameworks` are Kueue's integrations whose kinds are not Kubernetes' own: their
    definitions are put in, nobody controls them.
    """

    def __init__(
        self, programs: Programs, folder: Path, port: int, frameworks: Iterable[str]
    ) -> None:
        self.programs, self.folder, self.port = programs, folder, port
        self.frameworks = frameworks
        self.url = f"https://127.0.0.1:{port}"
        self.keys = folder / "keys"
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._config: Document | None = None
        self._kubelet: Kubelet | None = None

    @property
    def kubeconfig(self) -> Path:
        """Return the administrator's kubeconfig; its one context is `real`."""
        return self.folder / "admin.kubeconfig"

    def __enter__(self) -> Plane:
        self.folder.mkdir(parents=True, exist_ok=True)
        certificates.make(self.keys)
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def configure(self, config: Document | None) -> None:
        """Run Kueue with this Configuration, less servers; it restarts if it differs."""
        given = {"integrations": {"frameworks": FRAMEWORKS}, **(config or {})}
        if given == self._config and self._running["kueue"].poll() is None:
            return
        self._stop("kueue")
        self._config = copy.deepcopy(given)
        document = self._configuration(given)
        text = yaml.safe_dump(document)
        file = self.folder / "kueue.yaml"
        file.write_text(text)
        self._publish(text)
        self._spawn(
            "kueue",
            self.programs.kueue,
            f"--config={file}",
            f"--kubeconfig={self._kubeconfig_of('kueue')}",
        )
        ready = f"http://127.0.0.1:{self.port + 7}/readyz"
        self._wait("kueue", lambda: _answers(ready) and _listens(self.port + 6))
        self._put_webhooks()

    def metrics(self) -> str:
        """Return Kueue's metrics, as Prometheus reads them."""
        url = f"https://127.0.0.1:{self.port + 8}"
        # It signs the certificate of its metrics by itself.
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        code, text = Api(url, self.api.token, context).ask("GET", "/metrics")
        if code != 200:
            raise PlaneError(f"{url}/metrics answered {code}; see {self._log('kueue')}")
        return str(text)

    def check(self) -> None:
        """Raise PlaneError when a process has ended by itself."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise PlaneError(
                    f"{name} ended with {process.returncode}; see {self._log(name)}"
                )

    # -- starting

    def _start(self) -> None:
        self._start_etcd()
        self._start_api_server()
        authority = self.keys / "ca.crt"
        self.api = Api.of(self.url, "admin-token", authority)
        self._wait("kube-apiserver", lambda: self.api.ask("GET", "/readyz")[0] == 200)
        self._kubeconfig_of("admin")
        # First: the garbage collector looks for new kinds only twice a minute.
        self._put_definitions()
        self._start_controllers()
        self._kubelet = Kubelet(Api.of(self.url, "kubelet-token", authority))
        self._kubelet.start()
        self.configure(None)

    def _start_etcd(self) -> None:
        clients = f"http://127.0.0.1:{self.port + 2}"
        peers = f"http://127.0.0.1:{self.port + 3}"
        self._spawn(
            "etcd",
            self.programs.etcd,
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            "--unsafe-no-fsync",
        )
        self._wait("etcd", lambda: _answers(f"{clients}/health"))

    def _start_api_server(self) -> None:
        tokens, keys = self.folder / "tokens.csv", self.keys
        tokens.touch(mode=0o600)
        tokens.write_text(_TOKENS)
        self._spawn(
            "kube-apiserver",
            self.programs.kubernetes["kube-apiserver"],
            f"--etcd-servers=http://127.0.0.1:{self.port + 2}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.port}",
            f"--tls-cert-file={keys / 'api.crt'}",
            f"--tls-private-key-file={keys / 'api.key'}",
            f"--client-ca-file={keys / 'ca.crt'}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={keys / 'sa.pub'}",
            f"--service-account-signing-key-file={keys / 'sa.key'}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--authorization-mode=AlwaysAllow",
            f"--token-auth-file={tokens}",
            "--endpoint-reconciler-type=none",
            f"--cert-dir={self.folder / 'certificates'}",
            "--external-hostname=127.0.0.1",
            # Nobody makes the service accounts' tokens that it would wait for.
            "--disable-admission-plugins=ServiceAccount",
        )

    def _start_controllers(self) -> None:
        common = (
            "--bind-address=127.0.0.1",
            "--leader-elect=false",
            f"--cert-dir={self.folder / 'certificates'}",
            "--kube-api-qps=100",
            "--kube-api-burst=200",
        )
        for name, who, port in (
            ("kube-controller-manager", "controllers", self.port + 4),
            ("kube-scheduler", "scheduler", self.port + 5),
        ):
            file = self._kubeconfig_of(who)
            more = [f"--{kind}kubeconfig={file}" for kind in _KUBECONFIGS]
            if who == "controllers":
                more += [
                    f"--controllers={','.join(_CONTROLLERS)}",
                    f"--root-ca-file={self.keys / 'ca.crt'}",
                    f"--service-account-private-key-file={self.keys / 'sa.key'}",
                ]
            program = self.programs.kubernetes[name]
            self._spawn(name, program, *common, f"--secure-port={port}", *more)

    def _spawn(self, name: str, program: Path, *words: str) -> None:
        with self._log(name).open("ab") as log:
            self._running[name] = subprocess.Popen(
                [str(program), *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                start_new_session=True,  # Ctrl-C is for us: we end them in order
                env={**os.environ, "GOMAXPROCS": "2"},
            )

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def _wait(self, name: str, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            with contextlib.suppress(OSError):
                if holds():
                    return
            self.check()
            if time.monotonic() > deadline:
                raise PlaneError(f"{name} does not get ready; see {self._log(name)}")
            time.sleep(_LOOK_EVERY_S)

    def _kubeconfig_of(self, who: str) -> Path:
        file = self.folder / f"{who}.kubeconfig"
        cluster = {
            "server": self.url,
            "certificate-authority": str(self.keys / "ca.crt"),
        }
        named = {"cluster": "real", "user": who}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "real", "cluster": cluster}],
            "users": [{"name": who, "user": {"token": f"{who}-token"}}],
            "contexts": [{"name": "real", "context": named}],
            "current-context": "real",
        }
        file.touch(mode=0o600)
        file.write_text(yaml.safe_dump(document))
        return file

    # -- Kueue

    def _configuration(self, given: Document) -> Document:
        """Return Kueue's Configuration with servers on our ports."""
        gates = {**(given.get("featureGates") or {}), "VisibilityOnDemand": False}
        host = "127.0.0.1"
        return {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            **copy.deepcopy(given),
            "featureGates": gates,
            "health": {"healthProbeBindAddress": f"{host}:{self.port + 7}"},
            "metrics": {
                **(given.get("metrics") or {}),
                "bindAddress": f"{host}:{self.port + 8}",
            },
            "webhook": {
                "host": host,
                "port": self.port + 6,
                "certDir": str(self.keys / "kueue"),
            },
            # Off, it would want another certificate below /etc for its metrics.
            "internalCertManagement": {"enable": True},
            "leaderElection": {"leaderElect": False},
        }

    def _publish(self, text: str) -> None:
        """Show Kueue's Configuration where an installed Kueue has it."""
        path = "/api/v1/namespaces/kueue-system/configmaps"
        document = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "kueue-manager-config"},
            "data": {"controller_manager_config.yaml": text},
        }
        self.api.ask("DELETE", f"{path}/kueue-manager-config")
        self.api.made(path, document)

    def _put_definitions(self) -> None:
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        names = []
        own = sorted((self.programs.manifests / "crd" / "bases").glob("*.yaml"))
        for file in [*own, *map(definition_of, self.frameworks)]:
            for document in _documents(file):
                spec = document["spec"]
                if spec["names"]["kind"] in _CONVERTED:
                    spec["conversion"] = {
                        "strategy": "Webhook",
                        "webhook": {
                            "conversionReviewVersions": ["v1"],
                            "clientConfig": self._client("/convert"),
                        },
                    }
                self.api.made(path, document)
                names.append(document["metadata"]["name"])
        for name in names:
            self._wait(name, lambda: self._is_established(f"{path}/{name}"))  # noqa: B023 - called here
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "kueue-system"},
        }
        self.api.made("/api/v1/namespaces", namespace)
        self.api.made("/api/v1/namespaces/kueue-system/secrets", self._secret())

    def _secret(self) -> Document:
        """Return what Kueue takes certificates from, so that it makes none."""
        files = {
            "ca.crt": "ca.crt",
            "ca.key": "ca.key",
            "tls.crt": "kueue/tls.crt",
            "tls.key": "kueue/tls.key",
        }
        data = {
            name: base64.b64encode((self.keys / file).read_bytes()).decode()
            for name, file in files.items()
        }
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "kueue-webhook-server-cert"},
            "data": data,
        }

    def _is_established(self, path: str) -> bool:
        _, answer = self.api.ask("GET", path)
        return any(
            one["type"] == "Established" and one["status"] == "True"
            for one in (answer.get("status") or {}).get("conditions") or []
        )

    def _put_webhooks(self) -> None:
        for document in _documents(self.programs.manifests / "webhook/manifests.yaml"):
            for one in document.get("webhooks") or []:
                given = one["clientConfig"]["service"]["path"]
                one["clientConfig"] = self._client(given)
                if one["name"].partition(".")[0][1:] in _OF_PODS:
                    one["namespaceSelector"] = _NOT_WITHOUT
            if "webhooks" in document:
                # As an installed Kueue is named: it looks for them.
                document["metadata"]["name"] = f"kueue-{document['metadata']['name']}"
                kind = document["kind"].lower()
                self.api.made(f"{_ADMISSION}/{kind}s", document)

    def _client(self, path: str) -> Document:
        authority = base64.b64encode((self.keys / "ca.crt").read_bytes()).decode()
        return {
            "url": f"https://127.0.0.1:{self.port + 6}{path}",
            "caBundle": authority,
        }

    # -- ending

    def _end(self) -> None:
        if self._kubelet is not None:
            self._kubelet.end()
        for name in reversed([*self._running]):
            self._stop(name)

    def _stop(self, name: str) -> None:
        process = self._running.pop(name, None)
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


_KUBECONFIGS = ("", "authentication-", "authorization-")
_NOT_WITHOUT = {
    "matchExpressions": [
        {
            "key": "kubernetes.io/metadata.name",
            "operator": "NotIn",
            "values": list(_WITHOUT),
        }
    ]
}


def _documents(file: Path) -> Iterator[Document]:
    yield from filter(None, yaml.load_all(file.read_text(), _LOADER))


def _answers(url: str) -> bool:
    with urllib.request.urlopen(url, timeout=3) as answer:
        return bool(answer.status == 200)


def _listens(port: int) -> bool:
    socket.create_connection(("127.0.0.1", port), 1).close()
    return True
