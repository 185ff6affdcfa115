"""Asks whether anything that the locks pin has a known fault.

Usage: python .ci/audit.py

Python's packages are asked of the advisories of PyPI, else of OSV (pip-audit); those
of the pages of the npm registry (npm audit). Ends with 1 where a fault is known. Where
advisories cannot be had, as on a machine that reaches a package index only, that is
said: such a line means NOT AUDITED, neither a fault nor a pass.
"""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))
LOCK = "requirements-dev.txt"
SERVICES = ("pypi", "osv")
SECONDS = 300


@dataclass(slots=True)
class Audit:
    """How many packages were looked up, which have faults, and why others were not."""

    of: str
    asked: int = 0
    faults: list[str] = field(default_factory=list)
    unasked: str = ""


def main() -> int:
    """Audit both locks, tell what came of it; return 1 where a fault is known."""
    audits = [python_packages(), page_packages()]
    for audit in audits:
        print(told(audit))
    return 1 if any(audit.faults for audit in audits) else 0


def told(audit: Audit) -> str:
    """Return what is said of an audit: all is well only where somebody was asked."""
    if audit.faults:
        lines = "\n".join(f"  {fault}" for fault in audit.faults)
        return f"{audit.of}: {len(audit.faults)} known faults\n{lines}"
    if audit.unasked:
        reached = f"{audit.asked} packages asked, " if audit.asked else ""
        return (
            f"{audit.of}: NOT AUDITED: {reached}"
            f"advisory database not reachable ({audit.unasked})"
        )
    return f"{audit.of}: {audit.asked} packages, no known fault"


def python_packages() -> Audit:
    """Ask for the packages of the lock, of one service or else of the other."""
    audits = []
    for service in SERVICES:
        audits.append(pip_audit(_output(_pip_audit_command(service))))
        if not audits[-1].unasked:
            break
    return max(audits, key=lambda audit: (len(audit.faults), audit.asked))


def _pip_audit_command(service: str) -> list[str]:
    program = [sys.executable, "-m", "pip_audit", "--format", "json", "--timeout", "15"]
    lock = ["--require-hashes", "--disable-pip", "--requirement", LOCK]
    quiet = ["--progress-spinner", "off"]
    return [*program, *quiet, "--vulnerability-service", service, *lock]


def pip_audit(output: str) -> Audit:
    """Read what pip-audit says as JSON; nothing at all where it reached nobody."""
    audit = Audit("Python packages")
    try:
        packages: list[dict[str, Any]] = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        audit.unasked = "no answer"
        return audit
    for package in packages:
        name = f"{package['name']} {package.get('version', '')}".strip()
        if "skip_reason" in package:
            audit.unasked = str(package["skip_reason"])[:120]
            continue
        audit.asked += 1
        audit.faults += [f"{name}: {fault['id']}" for fault in package["vulns"]]
    return audit


def page_packages() -> Audit:
    """Ask for the packages of package-lock.json."""
    from launcher.frontend import npm_command  # noqa: PLC0415  # found by the path above

    return npm_audit(_output([*npm_command(), "audit", "--json"]))


def npm_audit(output: str) -> Audit:
    """Read what npm says as JSON: an error has no count of packages."""
    audit = Audit("packages of the pages")
    try:
        answer: dict[str, Any] = json.loads(output)
        audit.asked = int(answer["metadata"]["dependencies"]["total"])
        faulty = answer["vulnerabilities"]
    except (ValueError, KeyError, TypeError):
        audit.unasked = _first_line(output)
        return audit
    audit.faults = [f"{name}: {faulty[name]['severity']}" for name in sorted(faulty)]
    return audit


def _first_line(output: str) -> str:
    try:
        answer = json.loads(output)
    except ValueError:
        return "no answer"
    text = answer.get("message") if isinstance(answer, dict) else None
    return " ".join(str(text or "no answer").split("http")[0].split())[:120]


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(  # noqa: S603  # our own words
            command,
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
