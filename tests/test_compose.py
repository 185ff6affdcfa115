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
EXPLAINED = set(re.findall(r"^([A-Z0-9_]+)=", EXAMPLE, re.MULTILINE))


APPLICATION = ("prepare", "web", "worker", "beat")
OTHERS = ("postgres", "redis", "proxy")
DOCKERFILE = (CHECKOUT / "Dockerfile").read_text()


def test_services_are_those_of_make_run_behind_a_proxy():
    assert set(SERVICES) == {*APPLICATION, *OTHERS}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_images_are_known_and_none_floats(name):
    image = SERVICES[name]["image"]

    assert image == "frontierboard" or re.fullmatch(r"[a-z/-]+:\d+\.\d+", image)


@pytest.mark.parametrize("name", sorted({*SERVICES} - {"prepare"}))
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


def test_site_is_published_on_this_machine_only_and_by_its_proxy_alone():
    published = {name: s["ports"] for name, s in SERVICES.items() if "ports" in s}

    assert published == {"proxy": ["127.0.0.1:${FRONTIERBOARD_PORT:-8000}:8080"]}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_no_service_may_more_than_it_needs(name):
    service = SERVICES[name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    assert service["restart"] == ("no" if name == "prepare" else "unless-stopped")
    assert {"mem_limit", "cpus", "pids_limit"} <= set(service)
    places = {place.split(":")[0] for place in service.get("tmpfs", [])}
    places |= {place for place in service["volumes"] if ":" not in place}
    assert "/tmp" in places  # noqa: S108  of the container


def test_only_images_that_begin_as_root_keep_rights_to_stop_being_it():
    assert {name for name, s in SERVICES.items() if "cap_add" in s} == {
        "postgres",
        "redis",
    }
    assert {SERVICES[name]["user"] for name in APPLICATION} == {"10001"}
    assert "\nUSER 10001\n" in DOCKERFILE
    assert "--uid 10001" in DOCKERFILE


def test_processes_are_given_time_to_end():
    grace = {
        name: int(s["stop_grace_period"].removesuffix("s"))
        for name, s in SERVICES.items()
        if name != "prepare"
    }

    assert grace["web"] > 5  # gunicorn's own
    assert min(grace.values()) >= 10


def test_several_web_processes_and_workers_do_not_get_into_each_others_way():
    """Nothing of them is named or published by a fixed name or port."""
    for name in ("web", "worker"):
        assert not {"container_name", "ports", "hostname"} & set(SERVICES[name])
    proxy = (CHECKOUT / "deploy" / "nginx.conf").read_text()
    assert (
        "./deploy/nginx.conf:/etc/nginx/nginx.conf:ro" in SERVICES["proxy"]["volumes"]
    )
    assert "set $site web;" in proxy
    assert "resolver 127.0.0.11 valid=5s" in proxy


def test_volume_of_beats_file_is_that_of_its_health_check():
    assert "data:/data" in SERVICES["beat"]["volumes"]
    assert "/data" in SERVICES["beat"]["healthcheck"]["test"][1]
    assert "FRONTIERBOARD_DATA=/data" in DOCKERFILE


def stages():
    """Return the lines of each stage of the Dockerfile, by its name."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in DOCKERFILE.splitlines():
        if line.startswith("FROM "):
            words = line.split()
            name = words[3] if "AS" in words else "last"
        found.setdefault(name, []).append(line)
    return found


def test_image_is_made_in_stages_and_the_last_one_builds_nothing():
    made = stages()

    assert list(made)[1:] == ["scripts", "build", "last"]
    built = "\n".join(made["build"])
    assert "pip install --require-hashes" in built
    assert "collectstatic" in built
    assert "whitenoise.compress" in built
    last = "\n".join(made["last"])
    assert not re.search(r"\b(pip|npm|apt-get|gcc)\b", last)
    assert [line for line in made["last"] if line.startswith("COPY")] == [
        "COPY --from=build /app /app"
    ]
    assert "HEALTHCHECK" in last


def test_only_what_the_image_copies_is_sent_to_its_builder():
    ignored = (CHECKOUT / ".dockerignore").read_text().splitlines()
    sent = {line[1:] for line in ignored if line.startswith("!")}
    copied = set()
    for line in DOCKERFILE.splitlines():
        if line.startswith("COPY ") and "--from" not in line:
            copied |= set(line.split()[1:-1])
    copied = {name.removeprefix("./") for name in copied}

    assert ignored[1] == "*"
    assert sent == copied
    assert all((CHECKOUT / name).exists() for name in copied)


def test_every_name_of_the_compose_file_is_explained():
    names = set(re.findall(r"\$\{([A-Z0-9_]+)", COMPOSE))
    names |= set(SERVICES["web"]["environment"])

    assert names - EXPLAINED == set()


def test_every_name_that_the_code_reads_is_explained():
    sources = [
        path.read_text()
        for folder in ("launcher", "dashboard")
        for path in (CHECKOUT / folder).rglob("*.py")
    ]
    read = re.compile(
        r"(?:environ\.get|environ\[|\btext|\bflag|\bwhole|\brequired|\bnames)\(?\s*\"([A-Z0-9_]+)\""
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
    for name in FILES:
        assert f"/build/node_modules/{name} " in DOCKERFILE
