"""How settings are read from the environment; what is odd raises with one sentence.

Every name is explained in .env.example.
"""

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any
from urllib.parse import parse_qs, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from launcher.paths import data_folder, database_url
from launcher.paths import redis_url as embedded_redis_url
from launcher.secrets import kept_secret_key


def text(name: str, default: str = "") -> str:
    """An empty value means the default: compose files cannot leave a name out."""
    return str(environ.Env().str(name, default="") or default)


def required(name: str) -> str:
    """Return a value that production cannot do without."""
    if value := text(name):
        return value
    raise ImproperlyConfigured(f"{name} must be set when serving in production.")


def mode() -> str:
    """Return local or production."""
    found = text("FRONTIERBOARD_MODE", "local")
    if found not in {"local", "production"}:
        raise ImproperlyConfigured(
            f"FRONTIERBOARD_MODE must be local or production, not {found!r}."
        )
    return found


def flag(name: str) -> bool:
    """Return a switch that is 0 or 1, and 0 where it is not set."""
    value = text(name, "0")
    if value not in {"0", "1"}:
        raise ImproperlyConfigured(f"{name} must be 0 or 1, not {value!r}.")
    return value == "1"


PRODUCTION = mode() == "production"
DATA = data_folder()
SHORTEST_TOKEN = 16


def repository() -> str:
    """Return the repository whose runs are official."""
    value = text("FRONTIERBOARD_REPOSITORY", "SemiAnalysisAI/InferenceX")
    if value.count("/") != 1 or not all(value.split("/")):
        raise ImproperlyConfigured(
            f"FRONTIERBOARD_REPOSITORY must read owner/name, not {value!r}."
        )
    return value


def whole(name: str, default: int, least: int = 0) -> int:
    """Return a whole number from ``least``."""
    value = text(name, str(default))
    # Longer ones than 18 digits fit no column, and Python reads no endless ones.
    if not value.isdecimal() or len(value) > 18 or int(value) < least:  # noqa: PLR2004
        raise ImproperlyConfigured(
            f"{name} must be a whole number from {least}, not {value!r}."
        )
    return int(value)


def github_api_url() -> str:
    """Return where GitHub's interface answers."""
    url = text("GITHUB_API_URL", "https://api.github.com").rstrip("/")
    parts = urlsplit(url)
    is_local = parts.hostname in {"127.0.0.1", "localhost", "::1"}
    plain = parts.scheme == "http" and is_local
    if not parts.hostname or not (parts.scheme == "https" or plain):
        raise ImproperlyConfigured(
            "GITHUB_API_URL must begin with https:// (http:// on this machine only)."
        )
    return url


def pr_comments() -> bool:
    """Tell whether verdicts are told on pull requests."""
    is_on = flag("FRONTIERBOARD_PR_COMMENTS")
    if is_on and not text("GITHUB_COMMENT_TOKEN"):
        raise ImproperlyConfigured(
            "FRONTIERBOARD_PR_COMMENTS=1 needs GITHUB_COMMENT_TOKEN, which may comment."
        )
    return is_on


def alert_url() -> str:
    """Return the chat's address; empty: there is none."""
    url = text("FRONTIERBOARD_ALERT_URL")
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


def site_url() -> str:
    """Return where readers reach the site."""
    port = text("FRONTIERBOARD_PORT", "8000")
    url = text("FRONTIERBOARD_URL", f"http://127.0.0.1:{port}").rstrip("/")
    if not url.startswith(("https://", "http://")):
        raise ImproperlyConfigured(
            f"FRONTIERBOARD_URL must begin with https:// or http://, not {url!r}."
        )
    return url


def secret_key() -> str:
    """Return what signs sessions."""
    if PRODUCTION:
        return required("SECRET_KEY")
    try:
        return text("SECRET_KEY") or kept_secret_key(DATA)
    except OSError as error:
        raise ImproperlyConfigured(
            f"FRONTIERBOARD_DATA: no key can be kept in {DATA}: {error.strerror}."
        ) from error


def hosts() -> list[str]:
    """Return the names under which the site may be asked for."""
    local = "127.0.0.1,localhost,[::1]"
    named = required("ALLOWED_HOSTS") if PRODUCTION else text("ALLOWED_HOSTS", local)
    found = [host.strip() for host in named.split(",") if host.strip()]
    if found:
        return found
    raise ImproperlyConfigured(f"ALLOWED_HOSTS names no host: {named!r}.")


def databases() -> dict[str, Any]:
    """Return Django's description of the database, and of its replica if there is."""
    url = required("DATABASE_URL") if PRODUCTION else text("DATABASE_URL")
    found = {"default": _database("DATABASE_URL", url or database_url(DATA))}
    if replica := text("DATABASE_REPLICA_URL"):
        described = _database("DATABASE_REPLICA_URL", replica)
        # Tests have one database, which is its own replica.
        found["replica"] = described | {"TEST": {"MIRROR": "default"}}
    return found


def _database(name: str, url: str) -> dict[str, Any]:
    _require_port(name, url)
    parsed: dict[str, Any] = environ.Env.db_url_config(url)
    if parsed.get("ENGINE") != "django.db.backends.postgresql":
        raise ImproperlyConfigured(f"{name} must begin with postgres://.")
    options = {
        "connect_timeout": 5,
        # A killed worker's session ends within seconds even while it waits for a
        # lock, and with it the claim on its run and what it had not committed.
        # Queries here are short: compiling one takes longer than running it.
        "options": "-c client_connection_check_interval=2000 -c jit=off",
        **parsed.get("OPTIONS", {}),
    }
    reuse = {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    return {**parsed, **reuse, "OPTIONS": options}


def _require_port(name: str, url: str) -> None:
    """Refuse what libraries would quote with a part of its password in their error."""
    try:
        _ = urlsplit(url).port
    except ValueError:
        raise ImproperlyConfigured(
            f"{name}: its host and port cannot be read; in a password / is written "
            "%2F, # %23 and @ %40."
        ) from None


def redis_url() -> str:
    """Return where broker and cache answer."""
    url = required("REDIS_URL") if PRODUCTION else text("REDIS_URL")
    url = url or embedded_redis_url(DATA)
    if urlsplit(url).scheme not in {"redis", "rediss", "unix"}:
        raise ImproperlyConfigured(
            "REDIS_URL must begin with redis://, rediss:// or unix://."
        )
    _require_port("REDIS_URL", url)
    return str(url)


def broker_url(url: str) -> str:
    """Celery has its own spelling of a unix socket and its database."""
    parts = urlsplit(url)
    if parts.scheme != "unix":
        return url
    number = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={number}"


def cors_origins() -> list[str]:
    """Return the sites whose scripts may read the API; ``["*"]`` is every site."""
    named = [part.strip() for part in text("FRONTIERBOARD_CORS_ORIGINS").split(",")]
    origins = [part for part in named if part]
    if origins != ["*"] and not all(map(_is_origin, origins)):
        raise ImproperlyConfigured(
            "FRONTIERBOARD_CORS_ORIGINS must list origins such as "
            "https://lab.example.org, separated by commas, or be *."
        )
    return origins


def _is_origin(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(
        parts.scheme in {"http", "https"}
        and parts.hostname
        and value == f"{parts.scheme}://{parts.netloc}"
        and "@" not in parts.netloc
    )


def log_format() -> str:
    """Return keyvalue or json."""
    value = text("FRONTIERBOARD_LOG_FORMAT", "keyvalue")
    if value not in {"keyvalue", "json"}:
        raise ImproperlyConfigured(
            f"FRONTIERBOARD_LOG_FORMAT must be keyvalue or json, not {value!r}."
        )
    return value


def metrics_tokens() -> list[str]:
    """Return what opens /metrics; while one is exchanged there are two."""
    tokens = names("FRONTIERBOARD_METRICS_TOKEN")
    if any(len(token) < SHORTEST_TOKEN for token in tokens):
        raise ImproperlyConfigured(
            f"FRONTIERBOARD_METRICS_TOKEN must have {SHORTEST_TOKEN} characters or "
            "more."
        )
    return tokens


def metrics_networks() -> list[IPv4Network | IPv6Network]:
    """Return from where /metrics is read without a token; in production nowhere."""
    default = "" if PRODUCTION else "127.0.0.0/8,::1/128"
    found = []
    for value in names("FRONTIERBOARD_METRICS_NETWORKS", default):
        try:
            found.append(ip_network(value))
        except ValueError as error:
            raise ImproperlyConfigured(
                f"FRONTIERBOARD_METRICS_NETWORKS names no network: {value!r}."
            ) from error
    return found


def names(name: str, default: str = "") -> list[str]:
    """Return the parts of a list that is separated by commas."""
    parts = (part.strip() for part in text(name, default).split(","))
    return [part for part in parts if part]


def raw_storage() -> dict[str, Any]:
    """Return where raw bytes lie: in a bucket where one is named, else in a folder."""
    if bucket := text("FRONTIERBOARD_S3_BUCKET"):
        options = _s3_options(bucket)
        return {"BACKEND": "dashboard.raw_storage.RawS3Storage", "OPTIONS": options}
    return {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        # No base URL: nothing links to them.
        "OPTIONS": {
            "location": DATA / "raw",
            "base_url": None,
            "allow_overwrite": True,
        },
    }


def _s3_options(bucket: str) -> dict[str, Any]:
    """Return the options of django-storages; without keys boto's own chain is asked."""
    endpoint = text("FRONTIERBOARD_S3_ENDPOINT")
    if endpoint and urlsplit(endpoint).scheme not in {"http", "https"}:
        raise ImproperlyConfigured(
            "FRONTIERBOARD_S3_ENDPOINT must begin with https:// or http://."
        )
    key, secret = text("FRONTIERBOARD_S3_ACCESS_KEY"), text("FRONTIERBOARD_S3_SECRET")
    if bool(key) != bool(secret):
        raise ImproperlyConfigured(
            "FRONTIERBOARD_S3_ACCESS_KEY and FRONTIERBOARD_S3_SECRET go together."
        )
    return {
        "bucket_name": bucket,
        "endpoint_url": endpoint or None,
        "region_name": text("FRONTIERBOARD_S3_REGION") or None,
        "access_key": key or None,
        "secret_key": secret or None,
        "location": text("FRONTIERBOARD_S3_PREFIX", "raw"),
        "default_acl": None,
        "file_overwrite": True,
        # Larger ones are read through a file under the temporary folder.
        "max_memory_size": 8 << 20,
    }
