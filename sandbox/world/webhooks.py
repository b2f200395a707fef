"""Calls to webhooks outside: only where the operator allows it, and only so far.

QUOTALAB_EXTENDERS lists address prefixes, by commas: http://extender.example:8888
allows every path below it. A name must not lead into a private network, unless
the list names that network too (10.0.0.0/8) or the address itself.
"""

from __future__ import annotations

import base64
import binascii
import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec

from sandbox.base.extender_results import shaped
from scheduler.engine.kube.extender.ports import ExtenderError
from scheduler.model.kube.configuration import Extender

MOST_BYTES = 8 * 2**20  # of one answer
MOST_S = 10.0  # of one call, whatever the policy says
VARIABLE = "QUOTALAB_EXTENDERS"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_PORTS = {"http": 80, "https": 443}


class NotAllowedError(ExtenderError):
    """An address that the operator of this server has not allowed."""


class Allowed:
    """The addresses that may be called."""

    def __init__(self, entries: Sequence[str]) -> None:
        """Read the operator's list. Raises ValueError naming the wrong entry."""
        self.prefixes: list[SplitResult] = []
        self.networks: list[Network] = []
        for entry in filter(None, map(str.strip, entries)):
            if "://" in entry:
                self.prefixes.append(_prefix(entry))
            else:
                self.networks.append(ipaddress.ip_network(entry))

    def __bool__(self) -> bool:
        return bool(self.prefixes)

    def check(self, url: str) -> SplitResult:
        """Return the parts of an address below a prefix; NotAllowedError else."""
        parts = urlsplit(url)
        if any(_below(parts, prefix) for prefix in self.prefixes):
            return parts
        raise NotAllowedError(
            f"extender {url}: calls are off; the operator of this server has not "
            f"allowed the address in {VARIABLE}"
        )

    def address(self, parts: SplitResult) -> str:
        """Return the number to connect to; a name may not lead where it must not."""
        host = parts.hostname or ""
        for found in numbers_of(host, _port(parts)):
            number = ipaddress.ip_address(found)
            if is_outside(number) or self._listed(host, number):
                return found
        raise NotAllowedError(
            f"extender {host}: the name leads into a private network; the operator "
            f"can list the network in {VARIABLE}"
        )

    def _listed(self, host: str, number: Address) -> bool:
        if host in (str(number), "localhost"):
            return True  # the prefix names it
        return any(number in network for network in self.networks)


def is_outside(number: Address) -> bool:
    """Return whether a number is of one host out on the Internet.

    Numbers that stand for others (mapped, translated, tunnelled) count as inside,
    whatever they stand for: what they lead to is decided elsewhere.
    """
    if not number.is_global or number.is_multicast or number.is_reserved:
        return False
    return not any(number in network for network in _STAND_INS)


#: IPv4 within IPv6: compatible, mapped, translated (RFC 6052, RFC 8215), Teredo, 6to4.
_STAND_INS = [
    ipaddress.IPv6Network(network)
    for network in (
        "::/96",
        "::ffff:0:0/96",
        "::ffff:0:0:0/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2001::/32",
        "2002::/16",
        "fec0::/10",  # site-local, which was given up
    )
]


def _prefix(entry: str) -> SplitResult:
    parts = urlsplit(entry)
    if parts.scheme not in _PORTS or not parts.hostname or parts.query:
        problem = f"{VARIABLE}: expected http(s)://host[:port][/path], got {entry!r}"
        raise ValueError(problem)
    return parts


def _below(parts: SplitResult, prefix: SplitResult) -> bool:
    if "@" in parts.netloc or parts.query or parts.fragment:
        return False
    if ".." in parts.path or "%" in parts.path or "\\" in parts.path:
        return False
    path = prefix.path.rstrip("/")
    return (
        (parts.scheme, parts.hostname) == (prefix.scheme, prefix.hostname)
        and _port(parts) == _port(prefix)
        and (parts.path == path or parts.path.startswith(f"{path}/"))
    )


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None


def numbers_of(host: str, port: int | None) -> list[str]:
    """Return the addresses that a name leads to. Raises ExtenderError for an unknown one."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ExtenderError(
            f"extender {host}: the name is not known: {error}"
        ) from error
    return [str(entry[4][0]).partition("%")[0] for entry in found]


class HttpPort:
    """Asks by POST. No redirect is followed and no proxy is used."""

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Return the answer, checked and shaped; raises ExtenderError."""
        url = f"{extender.url_prefix.rstrip('/')}/{verb}"
        parts = self._allowed.check(url)
        until = time.monotonic() + min(extender.timeout_ms / 1000, MOST_S)
        try:
            body = self._post(extender, parts, msgspec.json.encode(payload), until)
            answer = msgspec.json.decode(body)
        except (OSError, http.client.HTTPException) as error:
            raise ExtenderError(f"extender {url}: {error}") from error
        except msgspec.DecodeError as error:
            raise ExtenderError(f"extender {url}: not JSON: {error}") from error
        return shaped(extender, verb, answer)

    def _post(
        self, extender: Extender, parts: SplitResult, body: bytes, until: float
    ) -> bytes:
        host, port = parts.hostname or "", _port(parts)
        number = self._allowed.address(parts)
        line = socket.create_connection((number, port or 0), timeout=_left(until))
        connection = http.client.HTTPConnection(host, port)
        connection.sock = line
        try:
            if parts.scheme == "https":
                name, context = _tls(extender, host)
                connection.sock = context.wrap_socket(line, server_hostname=name)
            headers = {"Content-Type": "application/json"}
            connection.request("POST", parts.path, body, headers)
            connection.sock.settimeout(_left(until))
            return _read(connection, connection.sock, until)
        finally:
            connection.close()
            line.close()


def _read(
    connection: http.client.HTTPConnection, line: socket.socket, until: float
) -> bytes:
    """Return a body of at most MOST_BYTES, however slowly it drips."""
    answer = connection.getresponse()
    if answer.status != 200:
        raise http.client.HTTPException(f"expected status 200, got {answer.status}")
    chunks: list[bytes] = []
    size = 0
    while True:
        line.settimeout(_left(until))
        if not (chunk := answer.read1(65_536)):
            return b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
        if size > MOST_BYTES:
            raise http.client.HTTPException(
                f"an answer of more than {MOST_BYTES} bytes"
            )


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


_TLS_FIELDS = frozenset({"insecure", "serverName", "caData"})


def _tls(extender: Extender, host: str) -> tuple[str, ssl.SSLContext]:
    """Return the expected server name and how to check it; files of the server are not read."""
    given = extender.tls_config or {}
    if unread := sorted(set(given) - _TLS_FIELDS):
        raise ExtenderError(
            f"extender {extender.url_prefix}: tlsConfig.{unread[0]} is not read here; "
            f"known: {', '.join(sorted(_TLS_FIELDS))}"
        )
    context = ssl.create_default_context()
    if given.get("insecure"):
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if given.get("caData"):
        try:
            context.load_verify_locations(
                cadata=base64.b64decode(given["caData"], validate=True).decode()
            )
        except (binascii.Error, ValueError, ssl.SSLError) as error:
            raise ExtenderError(f"tlsConfig.caData: {error}") from error
    return str(given.get("serverName") or host), context
