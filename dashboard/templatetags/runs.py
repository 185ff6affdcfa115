"""How states, scores and addresses are written on the run pages."""

from django import template

from dashboard.models import ChangelogEntry, Job, Run
from dashboard.templatetags.site import MISSING
from dashboard.vocabulary import flags, links, skips
from dashboard.vocabulary.scenarios import scenario_label as label

register = template.Library()
BADGES = {
    "success": "badge-ok",
    "official": "badge-ok",
    "current": "badge-ok",
    "done": "badge-ok",
    "unofficial": "badge-unofficial",
    "running": "badge-info",
    "in_progress": "badge-info",
    "queued": "badge-info",
    "held": "badge-warn",
    "cancelled": "badge-warn",
    "action_required": "badge-warn",
    "stale": "badge-warn",
    "expired": "badge-warn",
    "partly": "badge-warn",
    "failure": "badge-bad",
    "timed_out": "badge-bad",
    "startup_failure": "badge-bad",
    "hidden": "badge-bad",
    "rejected": "badge-bad",
    "failed": "badge-bad",
    "pass": "badge-ok",
    "thin margin": "badge-warn",
    "borderline": "badge-warn",
    "too few questions": "badge-warn",
    "fail": "badge-bad",
    "intact": "badge-ok",
    "in doubt": "badge-warn",
    "partly measured": "badge-warn",
    "superseded": "",
    "excluded": "badge-warn",
}
_CHOSEN = {
    "exact": "of the measured commit",
    "fingerprint": "its matrix holds the measured recipes",
    "before": "newest stored version before the run",
    "after": "earliest stored version after the run",
}
_SIGNS = {
    "received": "\u2713",
    "off the frontier": "!",
    "missing": "\u2717",
    "excluded": "\u2298",
    "not planned": "\u00b7",
}


@register.filter
def badge(state: str | None) -> str:
    """Return the classes of a badge that says this word."""
    return f"badge {BADGES.get(state or '', '')}".strip()


@register.filter
def four_decimals(value: float | None) -> str:
    """Write a fraction with four decimals."""
    return MISSING if value is None else f"{value:.4f}"


@register.filter
def web_link(text: str) -> str:
    """Return the text if it is an http(s) address, else an empty text."""
    return links.web_link(text)


@register.filter
def scenario_label(scenario: str) -> str:
    """Return how a scenario is written on a page."""
    return label(scenario)


@register.filter
def flag_title(code: str) -> str:
    """Return what a flag says in words."""
    return flags.flag_title(code)


@register.filter
def flag_is_out(code: str) -> bool:
    """Tell whether a flag keeps its point off the frontier."""
    return flags.is_out(code)


@register.filter
def skip_title(code: str) -> str:
    """Return what a skip reason says in words."""
    return skips.skip_title(code)


@register.filter
def job_link(job: Job, run: Run) -> str:
    """Return the address of a job's log, empty if there is none."""
    return links.job_link(run.url, job.github_job_id)


@register.filter
def chosen_how(method: str) -> str:
    """Say how the version of a config file was chosen."""
    return _CHOSEN.get(method, method)


@register.filter
def cell_sign(state: str) -> str:
    """Return the sign of a cell of the coverage grid."""
    return _SIGNS.get(state, "")


@register.filter
def means_other_keys(entry: ChangelogEntry) -> bool:
    """Tell whether an entry means other keys than it spells out."""
    return set(entry.expanded_keys) != set(entry.raw_keys)


@register.filter
def in_words(code: str) -> str:
    """Write a code such as ``failed_run`` as words."""
    return code.replace("_", " ")
