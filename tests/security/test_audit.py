"""The audit of the locks is never silently green."""

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
SKIPPED = "Dependency not found on PyPI and could not be audited"


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", CHECKOUT / ".ci/audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def packages(*found: Mapping[str, object]) -> str:
    return json.dumps({"dependencies": list(found), "fixes": []})


def test_a_known_fault_is_named(audit: ModuleType) -> None:
    faulty = {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1"}]}
    found = audit.pip_audit(packages(faulty, {"name": "b", "vulns": []}))
    assert found.faults == ["a 1: PYSEC-1"]
    assert "1 known faults\n  a 1: PYSEC-1" in audit.told(found)


@pytest.mark.parametrize(
    "output",
    ["", "Traceback", "[]", packages({"name": "a", "skip_reason": SKIPPED})],
)
def test_what_nobody_was_asked_about_is_not_called_sound(
    audit: ModuleType, output: str
) -> None:
    told = audit.told(audit.pip_audit(output))
    assert "NOT AUDITED" in told
    assert "advisory database not reachable" in told
    assert "no known fault" not in told


def test_what_was_asked_and_has_no_fault_is_counted(audit: ModuleType) -> None:
    told = audit.told(audit.pip_audit(packages({"name": "a", "vulns": []})))
    assert told == "Python packages: 1 packages, no known fault"


def test_npm_tells_faults_and_its_errors_apart(audit: ModuleType) -> None:
    counted = {"metadata": {"dependencies": {"total": 3}}}
    faulty = {"vulnerabilities": {"x": {"severity": "high"}}, **counted}
    assert audit.npm_audit(json.dumps(faulty)).faults == ["x: high"]
    sound = audit.npm_audit(json.dumps({"vulnerabilities": {}, **counted}))
    assert audit.told(sound) == "packages of the pages: 3 packages, no known fault"
    failed = json.dumps({"message": "405 Method Not Allowed - POST", "error": {}})
    assert "NOT AUDITED" in audit.told(audit.npm_audit(failed))
