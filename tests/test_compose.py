"""The container files, read as YAML and text: no engine is needed."""

import re
from pathlib import Path

import pytest
import yaml

from launcher.frontend import FILES

CHECKOUT = Path(__file__).resolve().parent.parent
COMPOSE = (CHECKOUT / "docker-compose.yml").read_text()
SERVICES = yaml.safe_load(COMPOSE)["services"]
EXAMPLE = (CHECKOUT / ".env.example").read_text()
EXPLAINED = set(re.findall(r"^([A-Z_]+)=", EXAMPLE, re.MULTILINE))


def test_services_are_those_of_make_run():
    assert set(SERVICES) == {"postgres", "redis", "prepare", "web", "worker", "beat"}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_images_are_known_and_none_floats(name):
    image = SERVICES[name]["image"]

    assert image == "frontierboard" or re.fullmatch(r"[a-z/]+:\d+", image)


@pytest.mark.parametrize("name", ["postgres", "redis", "web", "worker"])
def test_what_others_wait_for_says_when_it_is_healthy(name):
    check = SERVICES[name]["healthcheck"]

    assert check["test"][0] in {"CMD", "CMD-SHELL"}
    assert {"interval", "timeout", "retries"} <= set(check)


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_processes_wait_for_the_migrations(name):
    waits = SERVICES[name]["depends_on"]

    assert waits == {"prepare": {"condition": "service_completed_successfully"}}
    assert SERVICES["prepare"]["depends_on"] == {
        "postgres": {"condition": "service_healthy"},
        "redis": {"condition": "service_healthy"},
    }


def test_site_is_published_on_this_machine_only():
    assert SERVICES["web"]["ports"] == ["127.0.0.1:${FRONTIERBOARD_PORT:-8000}:8000"]


def test_every_name_of_the_compose_file_is_explained():
    names = set(re.findall(r"\$\{([A-Z_]+)", COMPOSE))
    names |= set(SERVICES["web"]["environment"])

    assert names - EXPLAINED == set()


def test_every_name_that_the_code_reads_is_explained():
    sources = [
        path.read_text()
        for folder in ("launcher", "dashboard")
        for path in (CHECKOUT / folder).rglob("*.py")
    ]
    read = re.compile(
        r"(?:environ\.get|environ\[|_text|_flag|_whole|_required)\(?\s*\"([A-Z_]+)\""
    )
    names = {name for source in sources for name in read.findall(source)}

    assert len(names) >= 10
    assert names - EXPLAINED - {"PATH", "DJANGO_SETTINGS_MODULE"} == set()


def test_no_password_is_written_into_the_compose_file():
    value = SERVICES["postgres"]["environment"]["POSTGRES_PASSWORD"]

    assert value == "${POSTGRES_PASSWORD:?set it in .env}"
    assert ":${POSTGRES_PASSWORD}@" in SERVICES["web"]["environment"]["DATABASE_URL"]


def test_what_is_said_of_github_and_of_limits_reaches_the_processes():
    starts = ("GITHUB_", "FRONTIERBOARD_MAX_", "FRONTIERBOARD_POLL_")
    names = {name for name in EXPLAINED if name.startswith(starts)}

    assert len(names) >= 10
    assert names <= set(SERVICES["worker"]["environment"])


def test_image_copies_the_scripts_that_the_launcher_copies():
    dockerfile = (CHECKOUT / "Dockerfile").read_text()

    for name in FILES:
        assert f"/build/node_modules/{name} " in dockerfile
