"""Certificates of a control plane on loopback, made on the spot."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

#: Kueue makes its own in place of one that ends within 90 days.
_GOOD_FOR = datetime.timedelta(days=365)
#: Kueue looks for the first in the authority, and for the second in its own.
_AUTHORITY, _WEBHOOKS = "kueue-ca", "kueue-webhook-service.kueue-system.svc"
_SERVERS = ("localhost", "kubernetes", "kubernetes.default.svc", _WEBHOOKS)


def make(folder: Path) -> None:
    """Write ca, api and kueue/tls, each .crt and .key, and sa.pub and .key."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kueue").mkdir(exist_ok=True)
    ca_key = _key()
    ca = _certificate(_AUTHORITY, ca_key, ca_key, None)
    _write_key(folder / "ca.key", ca_key)
    _write_certificate(folder / "ca.crt", ca)
    for certificate, key_file in (
        ("api.crt", "api.key"),
        ("kueue/tls.crt", "kueue/tls.key"),
    ):
        key = _key()
        made = _certificate("127.0.0.1", key, ca_key, ca)
        _write_certificate(folder / certificate, made)
        _write_key(folder / key_file, key)
    accounts = _key()
    _write_key(folder / "sa.key", accounts)
    public = accounts.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (folder / "sa.pub").write_bytes(public)


def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _certificate(
    name: str,
    key: rsa.RSAPrivateKey,
    signer: rsa.RSAPrivateKey,
    issuer: x509.Certificate | None,
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)  # noqa: TID251 - of this machine
    names: list[x509.GeneralName] = [x509.DNSName(_AUTHORITY)]
    if issuer is not None:
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        names = [*map(x509.DNSName, _SERVERS), address]
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + _GOOD_FOR)
        .add_extension(x509.BasicConstraints(issuer is None, None), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(signer, hashes.SHA256())
    )


def _write_certificate(file: Path, certificate: x509.Certificate) -> None:
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _write_key(file: Path, key: rsa.RSAPrivateKey) -> None:
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    file.touch(mode=0o600)
    file.write_bytes(text)
