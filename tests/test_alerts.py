"""The alert rules name metrics that exist, and each alarm is explained."""

import re
from pathlib import Path

import pytest
import yaml
from prometheus_client.core import Metric

from dashboard import counters, telemetry
from dashboard.views.metric_families import SiteCollector

CHECKOUT = Path(__file__).resolve().parent.parent
RULES = [
    rule
    for group in yaml.safe_load((CHECKOUT / "docs" / "alerts.yml").read_text())[
        "groups"
    ]
    for rule in group["rules"]
]


@pytest.fixture
def exposed(transactional_db) -> dict[str, set[str]]:
    """Names of every sample that /metrics can have, with their labels."""
    telemetry.note_sign_of_life("worker@here")
    telemetry.note_schedule()
    telemetry.note_duration(telemetry.STEP, "storing", 1)
    telemetry.note_duration(telemetry.REQUEST, "run:failed", 1)
    told = dict.fromkeys(("limit", "remaining", "reset"), "1")
    telemetry.note_budget({f"x-ratelimit-{name}": v for name, v in told.items()})
    counters.count_page("help", "GET", 200, 0.1)
    counters.API_ERRORS.labels("500").inc()
    counters.count_cache_read("ready:x", is_hit=True)
    families: list[Metric] = list(SiteCollector().collect())
    for counted in (counters.PAGES, counters.API_ERRORS, counters.CACHE_READS):
        families += counted.collect()
    found: dict[str, set[str]] = {"up": {"job", "instance"}}
    for family in families:
        # Families that are empty now: their labels are not known.
        found.setdefault(family.name, set())
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def test_every_metric_of_a_rule_is_one_of_ours(exposed):
    used = {
        name
        for rule in RULES
        for name in re.findall(r"\b(?:frontierboard_[a-z_]+|up)\b", rule["expr"])
    }
    assert len(used) >= 12
    assert used - set(exposed) == set()


def test_every_label_of_a_rule_is_one_that_its_metric_has(exposed):
    for rule in RULES:
        for name, labels in re.findall(r"(frontierboard_\w+)\{([^}]*)\}", rule["expr"]):
            asked = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", labels))
            if exposed[name]:
                assert asked <= exposed[name], name


def test_every_rule_has_a_name_a_severity_and_a_sentence():
    names = [rule["alert"] for rule in RULES]
    assert len(set(names)) == len(names) >= 12
    for rule in RULES:
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["summary"]


def test_every_alarm_is_explained():
    text = (CHECKOUT / "docs" / "operations.md").read_text()
    rows = set(re.findall(r"^\| `(Frontierboard\w+)` \|", text, re.MULTILINE))
    assert rows == {rule["alert"] for rule in RULES}
