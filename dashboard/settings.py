"""Settings, all from the environment; an odd value stops start-up with a sentence.

Every name is explained in .env.example.
"""

import logging
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import environ
import structlog
from celery.schedules import crontab, schedule
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from launcher.paths import data_folder, database_url, key_prefix, redis_url
from launcher.secrets import kept_secret_key

env = environ.Env()
BASE_DIR = Path(__file__).resolve().parent.parent


def _text(name: str, default: str = "") -> str:
    """An empty value means the default: compose files cannot leave a name out."""
    return str(env.str(name, default="") or default)


def _required(name: str) -> str:
    if value := _text(name):
        return value
    raise ImproperlyConfigured(f"{name} must be set when serving in production.")


def _mode() -> str:
    mode = _text("FRONTIERBOARD_MODE", "local")
    if mode not in {"local", "production"}:
        raise ImproperlyConfigured(
            f"FRONTIERBOARD_MODE must be local or production, not {mode!r}."
        )
    return mode


def _flag(name: str) -> bool:
    value = _text(name, "0")
    if value not in {"0", "1"}:
        raise ImproperlyConfigured(f"{name} must be 0 or 1, not {value!r}.")
    return value == "1"


def _repository() -> str:
    value = _text("FRONTIERBOARD_REPOSITORY", "SemiAnalysisAI/InferenceX")
    if value.count("/") != 1 or not all(value.split("/")):
        raise ImproperlyConfigured(
            f"FRONTIERBOARD_REPOSITORY must read owner/name, not {value!r}."
        )
    return value


def _whole(name: str, default: int, least: int = 0) -> int:
    text = _text(name, str(default))
    # Longer ones than 18 digits fit no column, and Python reads no endless ones.
    if not text.isdecimal() or len(text) > 18 or int(text) < least:  # noqa: PLR2004
        raise ImproperlyConfigured(
            f"{name} must be a whole number from {least}, not {text!r}."
        )
    return int(text)


def _github_api_url() -> str:
    url = _text("GITHUB_API_URL", "https://api.github.com").rstrip("/")
    parts = urlsplit(url)
    is_local = parts.hostname in {"127.0.0.1", "localhost", "::1"}
    plain = parts.scheme == "http" and is_local
    if not parts.hostname or not (parts.scheme == "https" or plain):
        raise ImproperlyConfigured(
            "GITHUB_API_URL must begin with https:// (http:// on this machine only)."
        )
    return url


def _pr_comments() -> bool:
    is_on = _flag("FRONTIERBOARD_PR_COMMENTS")
    if is_on and not _text("GITHUB_COMMENT_TOKEN"):
        raise ImproperlyConfigured(
            "FRONTIERBOARD_PR_COMMENTS=1 needs GITHUB_COMMENT_TOKEN, which may comment."
        )
    return is_on


def _alert_url() -> str:
    url = _text("FRONTIERBOARD_ALERT_URL")
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    is_local = parts.hostname in {"127.0.0.1", "localhost", "::1"}
    plain = parts.scheme == "http" and is_local
    is_one = parts.hostname and url.split() == [url]
    if url and not (is_one and (parts.scheme == "https" or plain)):
        # The value itself is a secret.
        raise ImproperlyConfigured(
            "FRONTIERBOARD_ALERT_URL must begin with https:// (http:// on this "
            "machine only)."
        )
    return url


def _site_url() -> str:
    port = _text("FRONTIERBOARD_PORT", "8000")
    url = _text("FRONTIERBOARD_URL", f"http://127.0.0.1:{port}").rstrip("/")
    if not url.startswith(("https://", "http://")):
        raise ImproperlyConfigured(
            f"FRONTIERBOARD_URL must begin with https:// or http://, not {url!r}."
        )
    return url


def _secret_key() -> str:
    if PRODUCTION:
        return _required("SECRET_KEY")
    try:
        return _text("SECRET_KEY") or kept_secret_key(DATA)
    except OSError as error:
        raise ImproperlyConfigured(
            f"FRONTIERBOARD_DATA: no key can be kept in {DATA}: {error.strerror}."
        ) from error


def _hosts() -> list[str]:
    local = "127.0.0.1,localhost,[::1]"
    text = _required("ALLOWED_HOSTS") if PRODUCTION else _text("ALLOWED_HOSTS", local)
    hosts = [host.strip() for host in text.split(",") if host.strip()]
    if hosts:
        return hosts
    raise ImproperlyConfigured(f"ALLOWED_HOSTS names no host: {text!r}.")


def _database() -> dict[str, Any]:
    url = _required("DATABASE_URL") if PRODUCTION else _text("DATABASE_URL")
    parsed: dict[str, Any] = environ.Env.db_url_config(url or database_url(DATA))
    if parsed.get("ENGINE") != "django.db.backends.postgresql":
        raise ImproperlyConfigured("DATABASE_URL must begin with postgres://.")
    options = {
        "connect_timeout": 5,
        # A killed worker's session ends within seconds even while it waits for a
        # lock, and with it the claim on its run and what it had not committed.
        "options": "-c client_connection_check_interval=2000",
        **parsed.get("OPTIONS", {}),
    }
    reuse = {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    return {**parsed, **reuse, "OPTIONS": options}


def _redis_url() -> str:
    url = _required("REDIS_URL") if PRODUCTION else _text("REDIS_URL")
    url = url or redis_url(DATA)
    if urlsplit(url).scheme not in {"redis", "rediss", "unix"}:
        raise ImproperlyConfigured(
            "REDIS_URL must begin with redis://, rediss:// or unix://."
        )
    return str(url)


def _broker_url(url: str) -> str:
    """Celery has its own spelling of a unix socket and its database."""
    parts = urlsplit(url)
    if parts.scheme != "unix":
        return url
    number = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={number}"


def _in_one_line(record: logging.LogRecord) -> bool:
    """Tell without its traceback that a stranger sent a name that is not the site's."""
    record.levelno, record.levelname = logging.WARNING, "WARNING"
    record.exc_info = None
    return True


PRODUCTION = _mode() == "production"
DEBUG = False
DATA = data_folder()
SECRET_KEY = _secret_key()
ALLOWED_HOSTS = _hosts()
FRONTIERBOARD_REPOSITORY = _repository()
# Where readers reach this site: in reports, comments and messages that leave it.
FRONTIERBOARD_URL = _site_url()
# Where new regressions are told: a Slack-compatible webhook. Empty: nowhere.
FRONTIERBOARD_ALERT_URL = _alert_url()

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "ninja",  # the page of the interface, with its own script and style
    "dashboard",
    "ingest",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dashboard.views.access.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "dashboard.urls"
WSGI_APPLICATION = "dashboard.wsgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = _redis_url()
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": f"{key_prefix()}cache",
    },
}

# What the ingestion refuses as too large, in bytes (see .env.example).
FRONTIERBOARD_LIMITS = {
    "artifact": _whole("FRONTIERBOARD_MAX_ARTIFACT_BYTES", 4 << 30, least=1),
    "member": _whole("FRONTIERBOARD_MAX_MEMBER_BYTES", 2 << 30, least=1),
    "memory": _whole("FRONTIERBOARD_MAX_MEMORY_BYTES", 128 << 20, least=1),
    "run": _whole("FRONTIERBOARD_MAX_RUN_BYTES", 256 << 20, least=1),
}

# Of how many documents of a run the samples of its evals are stored; 0: of none.
FRONTIERBOARD_MAX_SAMPLE_DOCUMENTS = _whole(
    "FRONTIERBOARD_MAX_SAMPLE_DOCUMENTS", 100_000
)

# GitHub (see .env.example). Without a token its artifacts cannot be downloaded, so
# there is nothing to poll for.
GITHUB_TOKEN = _text("GITHUB_TOKEN")
GITHUB_COMMENT_TOKEN = _text("GITHUB_COMMENT_TOKEN")
GITHUB_API_URL = _github_api_url()
GITHUB_WEBHOOK_SECRET = _text("GITHUB_WEBHOOK_SECRET")
GITHUB_WAIT_SECONDS = _whole("GITHUB_WAIT_SECONDS", 60)
GITHUB_TIMEOUT_SECONDS = _whole("GITHUB_TIMEOUT_SECONDS", 30, least=1)
# Comments on pull requests are the only thing that is ever written on GitHub.
FRONTIERBOARD_PR_COMMENTS = _pr_comments()
FRONTIERBOARD_POLL_SECONDS = _whole(
    "FRONTIERBOARD_POLL_SECONDS", 300 if GITHUB_TOKEN else 0
)
FRONTIERBOARD_POLL_DAYS = _whole("FRONTIERBOARD_POLL_DAYS", 14, least=1)
FRONTIERBOARD_REFETCH_SECONDS = _whole("FRONTIERBOARD_REFETCH_SECONDS", 600)
FRONTIERBOARD_MAX_LOG_BYTES = _whole("FRONTIERBOARD_MAX_LOG_BYTES", 8 << 20)
FRONTIERBOARD_MAX_UPLOAD_BYTES = _whole("FRONTIERBOARD_MAX_UPLOAD_BYTES", 1 << 30)
FRONTIERBOARD_MAX_FETCH_BYTES = _whole(
    "FRONTIERBOARD_MAX_FETCH_BYTES", 2 << 30, least=1
)
FRONTIERBOARD_MAX_OFFICIAL_FETCH_BYTES = _whole(
    "FRONTIERBOARD_MAX_OFFICIAL_FETCH_BYTES", 20 << 30, least=1
)
FRONTIERBOARD_FETCHES_PER_CLIENT = _whole("FRONTIERBOARD_FETCHES_PER_CLIENT", 30)
FRONTIERBOARD_FETCHES_PER_HOUR = _whole("FRONTIERBOARD_FETCHES_PER_HOUR", 200)

# Who may look: everybody, or people who are logged in.
FRONTIERBOARD_LOGIN_REQUIRED = _flag("FRONTIERBOARD_LOGIN_REQUIRED")
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

# Uploaded bundles until they are ingested; web and worker share the folder.
FRONTIERBOARD_UPLOADS = DATA / "uploads"

LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# Files. Hashed names need `collectstatic`, which `make run` and the image do; without
# it (tests, commands by hand) the files are served from where they lie.
STATIC_MANIFEST = _flag("FRONTIERBOARD_STATIC_MANIFEST")
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = not STATIC_MANIFEST
STATICFILES = "django.contrib.staticfiles.storage"
STORAGES = {
    # Raw artifact bytes, named by their sha256. No base URL: nothing links to them.
    "raw": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": DATA / "raw",
            "base_url": None,
            "allow_overwrite": True,
        },
    },
    "staticfiles": {
        "BACKEND": f"{STATICFILES}.ManifestStaticFilesStorage"
        if STATIC_MANIFEST
        else f"{STATICFILES}.StaticFilesStorage",
    },
}

# Jobs. A task is acknowledged when it is done, so a killed worker's task comes back.
# The broker knows no dead workers, only tasks older than the visibility timeout, for
# which live workers look every 5 s, not every 100; it stays above the longest task so
# that none is handed out while it runs. Requests come back sooner: beat's task finds
# those that are running and claimed by no session of the database.
CELERY_BROKER_URL = _broker_url(REDIS_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "global_keyprefix": key_prefix(),
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "visibility_timeout": 11 * 60,
}
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SOFT_TIME_LIMIT = 9 * 60
CELERY_TASK_TIME_LIMIT = 10 * 60
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_ENABLE_UTC = True
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "measure noise": {
        "task": "ingest.tasks.measure_noise",
        "schedule": crontab(hour=3, minute=20),  # of UTC, when few runs end
    },
    "send lost requests again": {
        "task": "ingest.tasks.resend_requests",
        "schedule": schedule(20),
        # Without a worker they do not pile up: the next one does the same.
        "options": {"expires": 60},
    },
    "delete old uploads": {
        "task": "ingest.tasks.forget_old_uploads",
        "schedule": schedule(3600),
        "options": {"expires": 3600},
    },
}
if FRONTIERBOARD_POLL_SECONDS:
    CELERY_BEAT_SCHEDULE["poll official runs"] = {
        "task": "ingest.tasks.poll_official_runs",
        "schedule": schedule(FRONTIERBOARD_POLL_SECONDS),
    }
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA / "beat-schedule")

# Browser security. Charts are drawn by a script file that reads JSON, so no inline
# script is ever needed; exported pictures pass through data: and blob: addresses.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SECURE = PRODUCTION
CSRF_COOKIE_SECURE = PRODUCTION
SECURE_SSL_REDIRECT = PRODUCTION
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = PRODUCTION
SECURE_HSTS_PRELOAD = PRODUCTION
FRONTIERBOARD_TRUST_PROXY = _flag("FRONTIERBOARD_TRUST_PROXY")
if FRONTIERBOARD_TRUST_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# Logs: one key=value line per event on stderr, from structlog and logging alike.
_EVENT_STEPS: list[structlog.types.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]
structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        *_EVENT_STEPS,
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
    cache_logger_on_first_use=True,
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "events": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": _EVENT_STEPS,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.KeyValueRenderer(
                    key_order=["timestamp", "level", "logger", "event"]
                ),
            ],
        },
    },
    "filters": {"in one line": {"()": lambda: _in_one_line}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "events"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        "django": {"level": "INFO", "propagate": True, "handlers": []},
        "django.security.DisallowedHost": {"filters": ["in one line"]},
    },
}
