"""docs/security.md names tests that exist, for every threat."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
DOCUMENT = CHECKOUT / "docs" / "security.md"


def threats() -> list[list[str]]:
    lines = DOCUMENT.read_text().splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return [row for row in rows if len(row) == 3 and row[0] not in {"threat", "---"}]


def test_every_threat_names_tests_that_exist() -> None:
    found = {
        name
        for path in (CHECKOUT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    assert len(threats()) >= 25
    for threat, _, tests in threats():
        named = re.findall(r"test_\w+", tests)
        assert named, threat
        assert set(named) <= found, (threat, sorted(set(named) - found))
