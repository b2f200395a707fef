"""Django's settings, for the default run and for the server run.

With DATABASE_URL in the environment this is the server run: PostgreSQL, Redis and
every secret from outside. Without it, one machine: SQLite and a socket of our own.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sandbox.base import environment

BASE_DIR = Path(__file__).resolve().parent.parent
SERVER = bool(os.environ.get("DATABASE_URL"))
#: Where other machines reach a run of one machine (`up --lan`); people then sign in.
LAN = "" if SERVER else environment.lan_address()
#: More people than the one at this machine: limits hold.
SHARED = SERVER or bool(LAN)
DEBUG = False

# ---------------------------------------------------- where things are kept

DATABASES: dict[str, dict[str, Any]]
if SERVER:
    SECRET_KEY = environment.required("SECRET_KEY")
    ALLOWED_HOSTS = environment.required("ALLOWED_HOSTS").split(",")
    DATABASES = {"default": environment.database(os.environ["DATABASE_URL"])}
    BUS_URL = environment.required("REDIS_URL")
else:
    DATA_FOLDER = environment.data_folder(BASE_DIR)
    SECRET_KEY = environment.local_secret(DATA_FOLDER)
    ALLOWED_HOSTS = [LAN] if LAN else ["127.0.0.1", "localhost", "[::1]"]
    DATABASES = {"default": environment.sqlite(DATA_FOLDER / "quotalab.sqlite3")}
    BUS_URL = f"unix://{environment.bus_folder(DATA_FOLDER) / 'bus.sock'}"
#: The few threads that ask for sockets keep their connection for so long.
STREAM_CONNECTION_S = 60.0
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -------------------------------------------------------- calls to outside

# Addresses of scheduler extenders that may be called; none by default.
EXTENDERS = environment.items("QUOTALAB_EXTENDERS")

# A YAML file of the clusters that may be followed; none without it. See docs/recording.md.
CLUSTERS_FILE = os.environ.get("QUOTALAB_CLUSTERS", "")

# How often a twin that plays forecasts itself, in seconds; 0 = when somebody asks.
TWIN_FORECAST_EVERY_S = environment.number("TWIN_FORECAST_SECONDS", 0)

# ------------------------------------------------------------- the apps

INSTALLED_APPS = [
    "sandbox.apps.SandboxConfig",
    "api.apps.ApiConfig",
    "rest_framework",
    "drf_spectacular",
    "channels",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "sandbox.base.logs.with_request_id",
    "django.middleware.security.SecurityMiddleware",
    "sandbox.process.schema_version.refuse_requests",
    "sandbox.base.security.headers",
    "sandbox.base.security.storable_address",
    "api.cluster.slashes.without_last_slash",
    "api.page.packed",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "sandbox.base.security.same_origin",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "sandbox.access.people.local_sign_in",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "api.urls"
ASGI_APPLICATION = "sandbox.live.asgi.application"
TEMPLATES: list[dict[str, Any]] = []  # the page is built; nothing is rendered here

# --------------------------------------------------------------- the page

PAGE_FOLDER = BASE_DIR / "frontend" / "dist"
STATIC_URL = "/static/"
STATICFILES_DIRS = [PAGE_FOLDER]
WHITENOISE_USE_FINDERS = True  # straight from the build, with no copying step
WHITENOISE_AUTOREFRESH = False
# The build puts a hash of the content into these names.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/assets/.+-[\w-]{8}\.\w+$"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文"), ("zh-hant", "繁體中文")]
USE_TZ = True
TIME_ZONE = "UTC"

# ------------------------------------------------------------ the live bus

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {
            # A subscription may be silent for as long as its sandbox is.
            "hosts": [{"address": BUS_URL, "socket_timeout": None}],
            "prefix": "quotalab",
        },
    }
}

CELERY_BROKER_URL = environment.broker(BUS_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# A task that was taken by a killed worker comes back after this many seconds.
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 30}
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
# Messages have no expiry: it would be judged by the clock of the host that takes them.
PULSE_EVERY_S = 0.05
#: A worker that stands still for so long, in a tick or between two instants of a run, is
#: ended; what it was at is given up when that has happened twice. 0 = no limit.
STANDSTILL_S = environment.number("STANDSTILL_SECONDS", 120)
#: A request that computes for so long in a web process is ended: what may cost over 0.2 s
#: is a worker's, and this is many times as much, for slow machines and the first import of
#: modules. 0 = no limit.
REQUEST_CPU_S = environment.number("REQUEST_CPU_SECONDS", 5)
#: What a web process does itself: files, larger bodies, worlds of more objects and objects
#: that make more pods are a worker's.
BYTES_PER_REQUEST = 64 * 2**10
OBJECTS_PER_REQUEST = 1_000
PODS_PER_REQUEST = 500
#: A web process waits so long for an answer that a worker works out; then it hands back
#: a place to ask again.
ANSWER_WAIT_S = environment.number("ANSWER_WAIT_SECONDS", 20)
#: Without workers: who asks works the answer out. For tests, as Celery's eager mode, and
#: for commands that ask in their own process.
ANSWER_INLINE = False
#: How often what is no longer to be kept is looked for.
TIDY_EVERY_S = 60.0

# -------------------------------------------------------------- security --

# The default run is plain HTTP on loopback; a server answers by HTTPS unless set
# otherwise. Behind a proxy, uvicorn takes X-Forwarded-Proto from the addresses in
# FORWARDED_ALLOW_IPS; Django itself trusts no such header.
HTTPS = environment.flag("HTTPS", default=SERVER)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = environment.number("HSTS_SECONDS", 31_536_000 if HTTPS else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = environment.flag("HSTS_SUBDOMAINS", default=HTTPS)
SECURE_HSTS_PRELOAD = SECURE_HSTS_INCLUDE_SUBDOMAINS
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SAMESITE = "Strict"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
X_FRAME_OPTIONS = "DENY"
# Bodies are capped before Django reads them, by path (sandbox/live/body_limits.py).
DATA_UPLOAD_MAX_MEMORY_SIZE = None

#: Sign-in at a provider of OpenID Connect; None where OIDC_ISSUER is not set.
OIDC = environment.provider()

# --------------------------------------------------- what one person may take

#: Set by the operator; docs/operating.md has the table. 0 = no limit.
LIMITS: dict[str, int] = {
    "requests_per_minute_all": environment.number(
        "REQUESTS_PER_MINUTE", 3000 if SHARED else 0
    ),
    "requests_per_minute_writes": environment.number(
        "WRITES_PER_MINUTE", 600 if SHARED else 0
    ),
    "requests_per_minute_joins": environment.number("JOINS_PER_MINUTE", 20),
    "guests_per_minute": environment.number("GUESTS_PER_MINUTE", 60),
    "sign_ins_per_minute": environment.number("SIGN_INS_PER_MINUTE", 10),
    "sandboxes_per_user": environment.number(
        "SANDBOXES_PER_USER", 200 if SERVER else 0
    ),
    "objects_per_import": environment.number("OBJECTS_PER_IMPORT", 100_000),
    "pods_per_object": environment.number("PODS_PER_OBJECT", 10_000),
    "objects_per_sandbox": environment.number("OBJECTS_PER_SANDBOX", 500_000),
    "bytes_per_import": environment.number("BYTES_PER_IMPORT", 64 * 2**20),
    # A JSON text of an import is a little longer than the import.
    "bytes_per_upload": environment.number("BYTES_PER_UPLOAD", 96 * 2**20),
    "bytes_per_body": environment.number("BYTES_PER_BODY", 2 * 2**20),
    "bytes_per_archive": environment.number("BYTES_PER_ARCHIVE", 256 * 2**20),
    "seconds_per_body": environment.number("SECONDS_PER_BODY", 60),
    "seconds_per_head": environment.number("SECONDS_PER_HEAD", 20),
    "seconds_per_hello": environment.number("SECONDS_PER_HELLO", 30),
    "yaml_depth": environment.number("YAML_DEPTH", 64),
    "yaml_aliases": environment.number("YAML_ALIASES", 1000),
    "yaml_values": environment.number("YAML_VALUES", 10_000_000),
    "connections_per_user": environment.number(
        "CONNECTIONS_PER_USER", 50 if SHARED else 0
    ),
    "connections": environment.number("CONNECTIONS", 5000 if SHARED else 0),
    "handshakes_per_minute": environment.number(
        "HANDSHAKES_PER_MINUTE", 600 if SHARED else 0
    ),
    "requests_per_minute_explanations": environment.number(
        "EXPLANATIONS_PER_MINUTE", 120 if SHARED else 0
    ),
    "ticks_per_second": environment.number("TICKS_PER_SECOND", 0),
    "answers_per_user": environment.number("ANSWERS_PER_USER", 4),
    "answers": environment.number("ANSWERS", 32),
    "waits_per_user": environment.number("WAITS_PER_USER", 8),
    "waits": environment.number("WAITS", 64),
    "answers_at_once_per_user": environment.number("ANSWERS_AT_ONCE_PER_USER", 2),
    "jobs_per_user": environment.number("JOBS_PER_USER", 20),
    "runs_per_experiment": environment.number("RUNS_PER_EXPERIMENT", 10_000),
    "hours_per_experiment": environment.number(
        "HOURS_PER_EXPERIMENT", 50_000 if SERVER else 0
    ),
}

#: How much of each sandbox's history is kept, unless it asks for less; 0 = all.
HISTORY: dict[str, int] = {
    "ticks": environment.number("HISTORY_TICKS", 100_000 if SERVER else 0),
    "days": environment.number("HISTORY_DAYS", 0),
    # Of all sandboxes together: the longest are shortened first.
    "in_all": environment.number("HISTORY_TICKS_IN_ALL", 10_000_000 if SERVER else 0),
}
#: How long the audit log is kept, and answers to requests with an Idempotency-Key.
AUDIT_DAYS = environment.number("AUDIT_DAYS", 400)
ANSWERS_DAYS = environment.number("IDEMPOTENCY_DAYS", 2)
#: Counters of limits, and apart from them, so that they push none out, what is kept for
#: a while (films, sizes on disk). By name, how many entries the memory of a process holds.
CACHES: dict[str, dict[str, Any]] = {
    name: {
        # Of all processes of a server together.
        "BACKEND": "sandbox.process.fallback_cache.FallbackCache",
        "LOCATION": BUS_URL,
        "KEY_PREFIX": f"quotalab-{name}",
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
        "max_entries": entries,
    }
    if SERVER
    else {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": name,
        "max_entries": entries,
    }
    for name, entries in (("default", 10_000), ("kept", 300))
}

# ----------------------------------------------------------------- the API

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["api.renderers.StorableJSONParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "api.authentication.TokenAuthentication",
        "api.authentication.LocalOrSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["api.permissions.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["api.permissions.PerPerson", "api.permissions.Writes"],
    "NUM_PROXIES": environment.number("PROXIES", 0),
    "EXCEPTION_HANDLER": "api.errors.answer",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Quotalab",
    "DESCRIPTION": "A live what-if sandbox for batch-scheduling policy.",
    "VERSION": "v1",
    "LICENSE": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    # Fields of one name whose choices differ need a name each.
    "ENUM_NAME_OVERRIDES": {
        "SandboxRole": ["owner", "editor", "viewer"],
        "MemberRole": ["editor", "viewer"],
        "ExperimentRole": ["owner", "viewer"],
        "Stack": ["kueue", "yunikorn", "kube"],
        "ConvertedStack": ["kueue", "yunikorn"],
        "NodeChangeKind": ["add", "cordon", "uncordon", "drain", "fail", "recover"],
        "ClusterChangeKind": ["lose", "recover"],
        "ExperimentState": ["running", "done", "failed", "cancelled"],
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "api.schema.with_refusals",
    ],
}

# ---------------------------------------------------------------- the logs

LOG_LEVEL = os.environ.get("LOG_LEVEL", "INFO" if SERVER else "WARNING").upper()
LOG_FORMAT = os.environ.get("LOG_FORMAT", "line")
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "sandbox.base.logs.OneLine"},
        "json": {"()": "sandbox.base.logs.JsonLine"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        "django.server": {"handlers": [], "propagate": True},
        # One line per connection and request is noise next to one line per tick.
        "uvicorn.access": {"level": "WARNING"},
        "uvicorn.error": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
    },
}
