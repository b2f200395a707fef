"""What the process takes from outside: variables, the data folder, the bus.

Two ways to run share this code. The default run needs no variable at all and
keeps its files in one folder of this machine. The server run begins with
DATABASE_URL and takes everything from the environment, nothing from disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import os
import secrets
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from scheduler.model.amounts import is_whole

# sun_path holds 104 bytes on macOS and 108 on Linux, the closing zero included.
LONGEST_SOCKET_PATH = 103
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def required(name: str) -> str:
    """Return a variable the server run cannot do without."""
    value = os.environ.get(name, "")
    if not value:
        raise ImproperlyConfigured(
            f"{name} is not set. DATABASE_URL is set, so this is the server run, and "
            f"it needs DATABASE_URL, REDIS_URL, SECRET_KEY and ALLOWED_HOSTS."
        )
    return value


def flag(name: str, default: bool) -> bool:
    """Return a yes-or-no variable; anything but a known word is refused."""
    words = {"1": True, "true": True, "on": True, "yes": True}
    words |= {"0": False, "false": False, "off": False, "no": False, "": default}
    value = os.environ.get(name, "").lower()
    if value not in words:
        raise ImproperlyConfigured(f"{name}: expected on or off, got {value!r}")
    return words[value]


def number(name: str, default: int) -> int:
    """Return a whole-number variable."""
    value = os.environ.get(name) or str(default)
    if not is_whole(value):
        raise ImproperlyConfigured(f"{name}: expected a whole number, got {value!r}")
    return int(value)


def items(name: str) -> list[str]:
    """Return a variable that lists things by commas."""
    parts = os.environ.get(name, "").split(",")
    return [part.strip() for part in parts if part.strip()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider of OpenID Connect, and who may come from it."""

    issuer: str  # exactly as it names itself, without a closing slash it does not use
    client_id: str
    secret: str  # "" = a public client, which has PKCE alone
    name: str  # what the sign-in page calls it
    scope: str
    groups_claim: str
    groups: frozenset[str]  # who may come in; empty = everybody
    staff: frozenset[str]  # who becomes staff; empty = left as it is


def provider() -> Provider | None:
    """Return the sign-in provider that OIDC_ISSUER and the other OIDC_ variables name, if any."""
    issuer = os.environ.get("OIDC_ISSUER", "")
    if not issuer:
        return None
    parts = urlsplit(issuer)
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise ImproperlyConfigured(f"OIDC_ISSUER: expected https://..., got {issuer}")
    client = os.environ.get("OIDC_CLIENT_ID", "")
    if not client:
        raise ImproperlyConfigured("OIDC_ISSUER is set, so OIDC_CLIENT_ID must be too")
    return Provider(
        issuer=issuer,
        client_id=client,
        secret=os.environ.get("OIDC_CLIENT_SECRET", ""),
        name=os.environ.get("OIDC_NAME", "your organisation"),
        scope=os.environ.get("OIDC_SCOPES", "openid profile email"),
        groups_claim=os.environ.get("OIDC_GROUPS_CLAIM", "groups"),
        groups=frozenset(items("OIDC_GROUPS")),
        staff=frozenset(items("OIDC_STAFF_GROUPS")),
    )


def lan_address() -> str:
    """Return the address that QUOTALAB_LAN names, "" when other machines stay out."""
    given = os.environ.get("QUOTALAB_LAN", "")
    if not given:
        return ""
    problem = f"QUOTALAB_LAN: expected one IP address of this machine, got {given!r}"
    try:
        address = ipaddress.ip_address(given)
    except ValueError:
        raise ImproperlyConfigured(problem) from None
    if address.is_unspecified or address.is_multicast:
        raise ImproperlyConfigured(
            f"{problem}; name the one that the others are to come by"
        )
    return f"[{address}]" if address.version == 6 else str(address)


def data_folder(root: Path) -> Path:
    """Return the folder of the default run, made if it does not exist.

    QUOTALAB_DATA, else var/ in a checkout, else the platform's place for the data
    of an application.
    """
    folder = Path(os.environ.get("QUOTALAB_DATA") or _usual_folder(root))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder.resolve()


def _usual_folder(root: Path) -> Path:
    if (root / "dev").exists():
        return root / "var"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Quotalab"
    share = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(share) / "quotalab"


def local_secret(folder: Path) -> str:
    """Return this machine's own secret key, drawn at the first start."""
    path = folder / "secret-key"
    if not path.exists():
        # Written whole under another name first: two first starts agree on one.
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as draft:
            draft.write(secrets.token_urlsafe(64))
        try:
            os.link(draft.name, path)
        except FileExistsError:
            pass
        finally:
            Path(draft.name).unlink()
    return path.read_text()


def bus_folder(data: Path) -> Path:
    """Return a short private folder for the bus's socket, one per data folder.

    The data folder's own path may be longer than a socket's may be.
    """
    name = f"quotalab-{os.getuid()}-{hashlib.sha256(bytes(data)).hexdigest()[:10]}"
    folder = Path(tempfile.gettempdir()) / name
    if len(bytes(folder / "bus.sock")) > LONGEST_SOCKET_PATH:
        folder = Path("/tmp") / name
    return folder


def make_private(folder: Path) -> Path:
    """Make `folder` for this user alone; refuse one that another user owns."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise ImproperlyConfigured(f"{folder} belongs to somebody else; remove it.")
    folder.chmod(0o700)
    return folder


def database(url: str) -> dict[str, Any]:
    """Return Django's settings for postgresql://user:password@host:port/name.

    Query parameters become connection options; `?host=/folder` is a unix socket.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(
            f"DATABASE_URL: expected postgresql://..., got {parts.scheme}://..."
        )
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    if most := int(number("DATABASE_POOL", 0)):
        patience_s = number("DATABASE_POOL_SECONDS", 20)
        options["pool"] = {"min_size": 1, "max_size": most, "timeout": patience_s}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


def make_private_file(path: Path) -> None:
    """Let nobody but this user read a file, which is made where it is not there."""
    path.touch(mode=0o600)
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) and stat.S_IMODE(mode) != 0o600:  # no terminal, no pipe
        path.chmod(0o600)


def sqlite(path: Path) -> dict[str, Any]:
    """Return Django's settings for one SQLite file that many processes share.

    The file is made for this user alone, and SQLite makes those beside it as it is.

    IMMEDIATE and WAL together: a deferred transaction that reads and then writes
    fails at once when another one wrote, whatever the timeout. The cache is each
    connection's own and fills up; pages that are only read come from the map.
    """
    with contextlib.suppress(OSError):  # of somebody else, or on a disk that is read
        make_private_file(path)
        for beside in path.parent.glob(f"{path.name}-*"):
            make_private_file(beside)
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
                "PRAGMA temp_store=MEMORY; PRAGMA mmap_size=134217728; "
                "PRAGMA cache_size=-4000; PRAGMA journal_size_limit=27103364;"
            ),
        },
        # A file, as in the run: shared memory databases lock by table, not by WAL.
        "TEST": {
            "NAME": Path(tempfile.gettempdir()) / f"quotalab-test-{os.getpid()}.sqlite3"
        },
    }


def broker(bus: str) -> str:
    """Return the bus's address in the form that Celery's transport reads."""
    socket = bus.removeprefix("unix://")
    return f"redis+socket://{socket}" if socket != bus else bus
