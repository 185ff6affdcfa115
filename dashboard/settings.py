"""Settings, all from the environment; an odd value stops start-up with a sentence.

Every name is explained in .env.example.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

from celery.schedules import crontab, schedule
from csp.constants import NONE, SELF

from dashboard import environment as env
from dashboard.logs import logging_settings
from launcher.paths import key_prefix

BASE_DIR = Path(__file__).resolve().parent.parent

PRODUCTION = env.PRODUCTION
DEBUG = False
DATA = env.DATA
SECRET_KEY = env.secret_key()
# Former keys: what they signed stays valid until they are taken out.
SECRET_KEY_FALLBACKS = env.names("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.hosts()
FRONTIERBOARD_REPOSITORY = env.repository()
# Where readers reach this site: in reports, comments and messages that leave it.
FRONTIERBOARD_URL = env.site_url()
# Where new regressions are told: a Slack-compatible webhook. Empty: nowhere.
FRONTIERBOARD_ALERT_URL = env.alert_url()

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "corsheaders",
    "csp",
    "django_htmx",
    "dashboard",
    "ingest",
]

MIDDLEWARE = [
    "dashboard.views.observation.ObservationMiddleware",
    "dashboard.views.charsets.charset_middleware",
    "dashboard.views.shared_caches.SharedCacheMiddleware",
    "dashboard.views.headers.headers_middleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "dashboard.compression.CompressionMiddleware",
    "csp.middleware.CSPMiddleware",
    "dashboard.replica.ReplicaMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "dashboard.api.answers.ApiAnswers",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "dashboard.views.access.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "dashboard.views.outage.OutageMiddleware",
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

DATABASES = env.databases()
DATABASE_ROUTERS = ["dashboard.replica.ReplicaRouter"] if "replica" in DATABASES else []
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.redis_url()
CACHES = {
    "default": {
        "BACKEND": "dashboard.counted_cache.CountedRedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": f"{key_prefix()}cache",
    },
}

# What the ingestion refuses as too large, in bytes (see .env.example).
FRONTIERBOARD_LIMITS = {
    "artifact": env.whole("FRONTIERBOARD_MAX_ARTIFACT_BYTES", 4 << 30, least=1),
    "member": env.whole("FRONTIERBOARD_MAX_MEMBER_BYTES", 2 << 30, least=1),
    "memory": env.whole("FRONTIERBOARD_MAX_MEMORY_BYTES", 128 << 20, least=1),
    "run": env.whole("FRONTIERBOARD_MAX_RUN_BYTES", 256 << 20, least=1),
}

# For how long an answer to anonymous readers is kept while the data stay as they are;
# what it says of times relative to now is old by as much. 0: none is kept.
FRONTIERBOARD_KEPT_SECONDS = env.whole("FRONTIERBOARD_KEPT_SECONDS", 60)

# Of how many documents of a run the samples of its evals are stored; 0: of none.
FRONTIERBOARD_MAX_SAMPLE_DOCUMENTS = env.whole(
    "FRONTIERBOARD_MAX_SAMPLE_DOCUMENTS", 100_000
)

# For how many days raw bytes and documents of evals are kept; 0: for good.
FRONTIERBOARD_RAW_KEEP_DAYS = env.whole("FRONTIERBOARD_RAW_KEEP_DAYS", 0)
FRONTIERBOARD_SAMPLES_KEEP_DAYS = env.whole("FRONTIERBOARD_SAMPLES_KEEP_DAYS", 0)
# Whether beat lets go of them every night; else only `manage.py forget_old --yes` does.
FRONTIERBOARD_FORGET_NIGHTLY = env.flag("FRONTIERBOARD_FORGET_NIGHTLY")

# GitHub (see .env.example). Without a token its artifacts cannot be downloaded, so
# there is nothing to poll for.
GITHUB_TOKEN = env.text("GITHUB_TOKEN")
GITHUB_COMMENT_TOKEN = env.text("GITHUB_COMMENT_TOKEN")
GITHUB_API_URL = env.github_api_url()
GITHUB_WEBHOOK_SECRET = env.text("GITHUB_WEBHOOK_SECRET")
GITHUB_WAIT_SECONDS = env.whole("GITHUB_WAIT_SECONDS", 60)
GITHUB_TIMEOUT_SECONDS = env.whole("GITHUB_TIMEOUT_SECONDS", 30, least=1)
# Comments on pull requests are the only thing that is ever written on GitHub.
FRONTIERBOARD_PR_COMMENTS = env.pr_comments()
FRONTIERBOARD_POLL_SECONDS = env.whole(
    "FRONTIERBOARD_POLL_SECONDS", 300 if GITHUB_TOKEN else 0
)
FRONTIERBOARD_POLL_DAYS = env.whole("FRONTIERBOARD_POLL_DAYS", 14, least=1)
FRONTIERBOARD_REFETCH_SECONDS = env.whole("FRONTIERBOARD_REFETCH_SECONDS", 600)
FRONTIERBOARD_FETCH_TRACES = env.flag("FRONTIERBOARD_FETCH_TRACES")
FRONTIERBOARD_MAX_LOG_BYTES = env.whole("FRONTIERBOARD_MAX_LOG_BYTES", 8 << 20)
FRONTIERBOARD_MAX_UPLOAD_BYTES = env.whole("FRONTIERBOARD_MAX_UPLOAD_BYTES", 1 << 30)
FRONTIERBOARD_MAX_FETCH_BYTES = env.whole(
    "FRONTIERBOARD_MAX_FETCH_BYTES", 2 << 30, least=1
)
FRONTIERBOARD_MAX_OFFICIAL_FETCH_BYTES = env.whole(
    "FRONTIERBOARD_MAX_OFFICIAL_FETCH_BYTES", 20 << 30, least=1
)
FRONTIERBOARD_FETCHES_PER_CLIENT = env.whole("FRONTIERBOARD_FETCHES_PER_CLIENT", 30)
FRONTIERBOARD_FETCHES_PER_HOUR = env.whole("FRONTIERBOARD_FETCHES_PER_HOUR", 200)

# Who may look: everybody, or people who are logged in.
FRONTIERBOARD_LOGIN_REQUIRED = env.flag("FRONTIERBOARD_LOGIN_REQUIRED")
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

# A client that was wrong so often within a quarter of an hour waits as long; by client
# and not by account, so that nobody can lock others out. Counts are in the cache.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AXES_HANDLER = "dashboard.views.logins.LoginFailures"
AXES_FAILURE_LIMIT = env.whole("FRONTIERBOARD_LOGIN_FAILURES", 10, least=1)
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = ["ip_address"]
AXES_CLIENT_IP_CALLABLE = "dashboard.views.clients.client_network"
AXES_LOCKOUT_CALLABLE = "dashboard.views.logins.locked_out"
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# Which other sites' scripts may read the API, and only read: no cookie goes along.
_ORIGINS = env.cors_origins()
CORS_ALLOW_ALL_ORIGINS = _ORIGINS == ["*"]
CORS_ALLOWED_ORIGINS = [] if CORS_ALLOW_ALL_ORIGINS else _ORIGINS
CORS_URLS_REGEX = r"^/api/"
CORS_ALLOW_METHODS = ("GET", "HEAD", "OPTIONS")
CORS_ALLOW_HEADERS = ("accept", "if-none-match")
CORS_EXPOSE_HEADERS = ("etag",)

# For how many seconds a cache before the site may keep what is the same for everybody.
FRONTIERBOARD_CDN_SECONDS = env.whole("FRONTIERBOARD_CDN_SECONDS", 0)

# Who may read /metrics: whoever has a token, or comes from a network.
FRONTIERBOARD_METRICS_TOKENS = env.metrics_tokens()
FRONTIERBOARD_METRICS_NETWORKS = env.metrics_networks()

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
STATIC_MANIFEST = env.flag("FRONTIERBOARD_STATIC_MANIFEST")
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = not STATIC_MANIFEST
STATICFILES = "django.contrib.staticfiles.storage"
STORAGES = {
    # Raw artifact bytes, named by their sha256.
    "raw": env.raw_storage(),
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
CELERY_BROKER_URL = env.broker_url(REDIS_URL)
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
if FRONTIERBOARD_FORGET_NIGHTLY:
    CELERY_BEAT_SCHEDULE["forget what is old"] = {
        "task": "ingest.tasks.forget_old",
        "schedule": crontab(hour=4, minute=40),
    }
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA / "beat-schedule")
CELERY_BEAT_SCHEDULER = "dashboard.beat:SteadyScheduler"

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
FRONTIERBOARD_TRUST_PROXY = env.flag("FRONTIERBOARD_TRUST_PROXY")
if FRONTIERBOARD_TRUST_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# Logs: one line per event on stderr, as key=value or as JSON.
LOGGING = logging_settings(env.log_format())
