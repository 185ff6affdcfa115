"""The settings refuse odd values with one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection

from launcher.secrets import kept_secret_key

CHECKOUT = Path(__file__).resolve().parent.parent


def check(*arguments, **environment):
    # Browser tests set DJANGO_ALLOW_ASYNC_UNSAFE for their own process.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("DJANGO_")}
    return subprocess.run(
        [sys.executable, "manage.py", "check", *arguments],
        cwd=CHECKOUT,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


PRODUCTION = {
    "FRONTIERBOARD_MODE": "production",
    "SECRET_KEY": "jY4-0tQ8kq1vN7wX3pR5sB9mC2dF6gH0aL_eUzTiOoKx~Wn-uP4",
    "ALLOWED_HOSTS": "board.example.org",
    "DATABASE_URL": "postgres://board@db/board",
    "REDIS_URL": "redis://broker/0",
}


def test_production_passes_the_deployment_check():
    done = check("--deploy", "--fail-level", "INFO", **PRODUCTION)

    assert done.returncode == 0, done.stderr
    assert "no issues (0 silenced)" in done.stdout


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("SECRET_KEY", "", "SECRET_KEY must be set when serving in production."),
        ("ALLOWED_HOSTS", "", "ALLOWED_HOSTS must be set when serving in production."),
        ("DATABASE_URL", "mysql://x/y", "DATABASE_URL must begin with postgres://."),
        ("REDIS_URL", "amqp://x", "REDIS_URL must begin with redis://"),
        ("FRONTIERBOARD_MODE", "fast", "must be local or production, not 'fast'."),
        ("FRONTIERBOARD_TRUST_PROXY", "yes", "must be 0 or 1, not 'yes'."),
        ("GITHUB_API_URL", "http://github.example.org", "must begin with https://"),
        ("GITHUB_API_URL", "github.example.org", "must begin with https://"),
        (
            "FRONTIERBOARD_URL",
            "board.example.org",
            "must begin with https:// or http://",
        ),
        ("FRONTIERBOARD_ALERT_URL", "http://chat.example.org/x", "begin with https://"),
        ("FRONTIERBOARD_PR_COMMENTS", "1", "needs GITHUB_COMMENT_TOKEN, which"),
        ("FRONTIERBOARD_CORS_ORIGINS", "lab.example.org", "must list origins"),
        ("FRONTIERBOARD_CORS_ORIGINS", "https://a.example/x", "must list origins"),
        ("FRONTIERBOARD_CORS_ORIGINS", "*,https://a.example", "must list origins"),
        ("FRONTIERBOARD_REPOSITORY", "board", "must read owner/name, not 'board'."),
        ("ALLOWED_HOSTS", " , ", "ALLOWED_HOSTS names no host: ' , '."),
        ("FRONTIERBOARD_MAX_MEMBER_BYTES", "-1", "number from 1, not '-1'."),
        ("FRONTIERBOARD_MAX_MEMORY_BYTES", "2 GB", "number from 1, not '2 GB'."),
        ("FRONTIERBOARD_MAX_ARTIFACT_BYTES", "0", "number from 1, not '0'."),
        ("FRONTIERBOARD_MAX_RUN_BYTES", "9" * 5000, "must be a whole number"),
        ("FRONTIERBOARD_METRICS_TOKEN", "short", "must have 16 characters or more."),
        ("FRONTIERBOARD_METRICS_NETWORKS", "10.0.0.0/40", "no network: '10.0.0.0/40'."),
        ("FRONTIERBOARD_LOG_FORMAT", "xml", "must be keyvalue or json, not 'xml'."),
        ("DATABASE_REPLICA_URL", "mysql://x/y", "must begin with postgres://."),
        ("FRONTIERBOARD_RAW_KEEP_DAYS", "-3", "must be a whole number from 0"),
    ],
)
def test_odd_value_stops_with_one_sentence(name, value, sentence):
    done = check(**PRODUCTION | {name: value})

    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert sentence in done.stderr


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({"ENDPOINT": "s3.example.org"}, "FRONTIERBOARD_S3_ENDPOINT must begin with"),
        (
            {"ACCESS_KEY": "key"},
            "FRONTIERBOARD_S3_ACCESS_KEY and FRONTIERBOARD_S3_SECRET",
        ),
    ],
)
def test_odd_storage_stops_with_one_sentence(named, sentence):
    told = {f"FRONTIERBOARD_S3_{name}": value for name, value in named.items()}
    done = check(**PRODUCTION, FRONTIERBOARD_S3_BUCKET="raw", **told)

    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert sentence in done.stderr


SHOW = """
from dashboard import settings
print(settings.ALLOWED_HOSTS, settings.FRONTIERBOARD_LIMITS["member"])
"""


def test_hosts_may_have_spaces_and_an_empty_limit_is_the_default():
    odd = {
        "ALLOWED_HOSTS": "a.example, .b.example ,",
        "FRONTIERBOARD_MAX_MEMBER_BYTES": "",
    }

    shown = subprocess.run(
        [sys.executable, "-c", SHOW],
        cwd=CHECKOUT,
        env={**os.environ, **PRODUCTION, **odd},
        capture_output=True,
        text=True,
        check=True,
    )

    assert shown.stdout == "['a.example', '.b.example'] 2147483648\n"


def test_data_folder_keeps_one_secret_key_that_only_its_owner_reads(tmp_path):
    first = kept_secret_key(tmp_path / "data")

    assert len(first) >= 50
    assert kept_secret_key(tmp_path / "data") == first
    assert (tmp_path / "data" / "secret-key").stat().st_mode & 0o077 == 0


def test_data_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")

    done = check(SECRET_KEY="", FRONTIERBOARD_DATA=str(tmp_path / "file" / "data"))

    assert done.returncode == 1
    assert f"no key can be kept in {tmp_path}/file/data" in done.stderr


@pytest.mark.django_db
def test_database_and_cache_are_real():
    cache.set("asked", "yes")

    assert connection.vendor == "postgresql"
    assert cache.get("asked") == "yes"


REFUSE = """
import django; django.setup()
from django.test import Client
print(Client(headers={"host": "evil.example"}).get("/help").status_code)
"""


def test_name_that_is_not_the_sites_is_told_in_one_line():
    shown = subprocess.run(
        [sys.executable, "-c", REFUSE],
        cwd=CHECKOUT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "dashboard.settings"},
        capture_output=True,
        text=True,
        check=True,
    )

    told = shown.stderr.splitlines()
    (line,) = [line for line in told if "DisallowedHost" in line]
    assert shown.stdout == "400\n"
    assert "Traceback" not in shown.stderr
    assert "level='warning' logger='django.security.DisallowedHost'" in line
    assert "Invalid HTTP_HOST header: 'evil.example'" in line
