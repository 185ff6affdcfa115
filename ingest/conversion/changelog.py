"""Changelog metadata to rows: entries as written, with what is wrong with them."""

import re
from collections.abc import Iterator

from ingest.conversion.records import ArtifactMeta, Record, RefusedError, ref_of, skip
from ingest.rows import ChangelogRow, RecordRef, SkipRow
from ingest.schemas.fields import WrongTypeError, read
from ingest.schemas.runs import Changelog, ChangelogEntry

_LINK = re.compile(
    r"https://github\.com/[\w.-]+/[\w.-]+/pull/(\d{1,9})(?:/(?:changes|files|commits))?/?"
)
_PLACEHOLDER = re.compile(r"(?:https://github\.com/[\w.-]+/[\w.-]+/pull/)?X{3,}|TBD")
_INLINE_LINK = re.compile(r"\bPR:\s*(https?://\S+)")


def changelog_rows(
    meta: ArtifactMeta, record: Record
) -> Iterator[ChangelogRow | SkipRow]:
    """Turn changelog metadata into one row per entry, in its order."""
    try:
        changelog = read(Changelog, record.value)
    except WrongTypeError as error:
        yield skip(meta, record, RefusedError("bad_changelog", str(error)))
        return
    refs = (changelog.base_ref, changelog.head_ref)
    for index, value in enumerate(changelog.entries):
        try:
            yield entry_row(ref_of(meta, record), index, value, refs)
        except WrongTypeError as error:
            detail = f"entry {index}: {error}"
            yield skip(meta, record, RefusedError("bad_changelog", detail))


def entry_row(
    ref: RecordRef, index: int, value: object, refs: tuple[str, str] = ("", "")
) -> ChangelogRow:
    """Read one entry; ``refs`` are the two commits between which it was added.

    Raises WrongTypeError where it is no entry at all.
    """
    entry = read(ChangelogEntry, value)
    defects: list[str] = []
    keys = _texts(entry.config_keys, "config-keys", defects)
    description = _texts(entry.description, "description", defects)
    link = _link(entry.pr_link, description, defects)
    state, number = link_state(link)
    if state != "good":
        defects.append(f"pr-link is {state}" + (f": {link}" if link else ""))
    return ChangelogRow(
        ref=ref,
        base_ref=refs[0],
        head_ref=refs[1],
        index=index,
        config_keys=keys,
        description=description,
        pr_link=link,
        link_state=state,
        pr_number=number,
        scenario_types=_scenario_types(entry, defects),
        evals_only=entry.evals_only is True,
        all_evals=entry.all_evals is True,
        append_only=entry.append_only is True,
        defects=defects,
    )


def link_state(link: str) -> tuple[str, int | None]:
    """Return ``good``, ``placeholder``, ``missing`` or ``invalid``, and the number.

    Placeholders are those that authors are told to write before a pull request has
    its number; a link may end in the tab of the page that it was copied from.
    """
    if not link:
        return "missing", None
    if found := _LINK.fullmatch(link):
        return "good", int(found[1])
    if _PLACEHOLDER.fullmatch(link) or "PLACEHOLDER" in link.upper():
        return "placeholder", None
    return "invalid", None


def _link(value: object, description: list[str], defects: list[str]) -> str:
    """Return the link as written; old descriptions hold it as ``PR: <url>``."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    if value is not None and not isinstance(value, str):
        defects.append("pr-link is not a string")
    found = _INLINE_LINK.search("\n".join(description))
    return found[1].rstrip(".,)") if found else ""


def _texts(value: object, name: str, defects: list[str]) -> list[str]:
    """Return a list of strings; a lone string is taken and named as a defect."""
    if isinstance(value, str) and value.strip():
        defects.append(f"{name} is a string instead of a list")
        return [value]
    if not isinstance(value, list) or not value:
        defects.append(f"{name} is missing or not a list")
        return []
    texts = [item for item in value if isinstance(item, str)]
    if len(texts) < len(value):
        defects.append(f"{name} holds {len(value) - len(texts)} items of another type")
    return texts


def _scenario_types(entry: ChangelogEntry, defects: list[str]) -> list[str] | None:
    if entry.scenario_type is None:
        return None
    return _texts(entry.scenario_type, "scenario-type", defects) or None
