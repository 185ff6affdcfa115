"""Why something was not taken: a title and a sentence for each reason."""

from typing import NamedTuple


class SkipReason(NamedTuple):
    """One reason for leaving a record, a file or an artifact out."""

    code: str
    title: str
    meaning: str


_ALL = (
    SkipReason(
        "failed_run",
        "no request succeeded",
        "The benchmark ran, but not one of its requests was answered, so its numbers "
        "measure nothing.",
    ),
    SkipReason(
        "missing_isl_osl_conc",
        "lengths or concurrency missing",
        "Without input length, output length and concurrency a row has no place in "
        "any sweep.",
    ),
    SkipReason(
        "missing_field",
        "a needed field is missing",
        "A field that says what was measured is absent; the detail names it.",
    ),
    SkipReason(
        "wrong_type",
        "a field of the wrong type",
        "A value cannot be read as what its field must be, or the record is no object.",
    ),
    SkipReason(
        "out_of_range",
        "a value out of range",
        "A number is larger or smaller than any measurement of its kind can be.",
    ),
    SkipReason(
        "unmapped_hw", "unknown hardware", "The row names a GPU that nobody knows here."
    ),
    SkipReason(
        "unmapped_model",
        "unknown model",
        "The row names a model that nobody knows here.",
    ),
    SkipReason(
        "duplicate_point",
        "measured twice in one attempt",
        "Two rows claim the same deployment and concurrency of one attempt. One was "
        "taken, the other is listed.",
    ),
    SkipReason(
        "evals_only",
        "key measured for evals only",
        "The changelog asks for evals of this key and nothing else, so throughput "
        "that came with them is not taken.",
    ),
    SkipReason(
        "superseded_eval",
        "eval repeated later",
        "The same eval was run again; the newest result by its file's time counts.",
    ),
    SkipReason(
        "no_score",
        "no score",
        "The eval finished without the score that its task is judged by.",
    ),
    SkipReason(
        "score_out_of_range",
        "score outside 0 to 1",
        "An accuracy below zero or above one is no accuracy.",
    ),
    SkipReason("failed_eval", "eval failed", "The eval itself reports that it failed."),
    SkipReason(
        "missing_results",
        "eval without results",
        "The result file of an eval holds no results.",
    ),
    SkipReason(
        "missing_meta_env",
        "eval without its description",
        "The file that says what an eval belongs to is absent from the artifact.",
    ),
    SkipReason(
        "bad_sample",
        "sample not readable",
        "A line of an eval's samples is cut off, too long, or names no document.",
    ),
    SkipReason(
        "duplicate_sample",
        "sample there twice",
        "A document was read twice by one filter; the first line counts.",
    ),
    SkipReason(
        "unmatched_samples",
        "samples of no stored result",
        "A file of samples belongs to no result that counts: a newer one replaced it, "
        "or its name fits none.",
    ),
    SkipReason(
        "too_many_samples",
        "too many samples",
        "The run has samples of more documents than are stored of one.",
    ),
    SkipReason(
        "bad_changelog", "changelog not readable", "The changelog is not of its format."
    ),
    SkipReason(
        "empty_run_stats", "empty run statistics", "The run counted nothing at all."
    ),
    SkipReason(
        "bad_run_stats",
        "run statistics not readable",
        "A count of job successes is not of its format.",
    ),
    SkipReason(
        "bad_reuse",
        "source of reuse not readable",
        "The run says that it reuses another one, but not in a way that names it.",
    ),
    SkipReason("no_json", "no JSON inside", "The artifact holds no file to read."),
    SkipReason("bad_json", "not JSON", "The text of a file could not be parsed."),
    SkipReason(
        "bad_member",
        "file not readable",
        "A file of the artifact is cut off or broken.",
    ),
    SkipReason(
        "member_too_large",
        "file too large",
        "A file exceeds the limit that protects the server.",
    ),
    SkipReason(
        "bad_name",
        "unusable file name",
        "A file's name is empty, too long, or holds characters of no file name.",
    ),
    SkipReason(
        "path_traversal",
        "file name leaves its folder",
        "A name such as ../x would write outside the artifact; such files are refused.",
    ),
    SkipReason(
        "duplicate_member",
        "file name twice",
        "Two files of one artifact have the same name; neither can be trusted.",
    ),
    SkipReason("encrypted", "encrypted file", "A file needs a password to be read."),
    SkipReason(
        "symlink", "link instead of a file", "Links inside artifacts are not followed."
    ),
    SkipReason(
        "zip_bomb",
        "suspicious compression",
        "A file would unpack to many times its size and is refused unread.",
    ),
    SkipReason(
        "bad_zip", "archive not readable", "The artifact is no zip, or a broken one."
    ),
    SkipReason(
        "too_many_members",
        "too many files",
        "The artifact holds more files than an artifact may.",
    ),
    SkipReason(
        "artifact_too_large",
        "artifact too large",
        "The artifact exceeds the limit that protects the server.",
    ),
    SkipReason(
        "run_too_large",
        "too many records in the run",
        "The records of a run are in memory together. What comes after the limit that "
        "protects the server is left out.",
    ),
    SkipReason(
        "duplicate_artifact",
        "two artifacts under one id",
        "The list names an id twice. The first one of that id was taken.",
    ),
    SkipReason(
        "changed_artifact",
        "other bytes under a known id",
        "What is behind an id never changes, so the bytes stored first count.",
    ),
    SkipReason(
        "no_bytes",
        "nothing downloaded",
        "The artifact is listed by GitHub, but its files are not in the bundle.",
    ),
    SkipReason(
        "expired_artifact",
        "expired on GitHub",
        "GitHub had deleted the artifact before it was fetched.",
    ),
)

SKIP_REASONS = {reason.code: reason for reason in _ALL}


def skip_title(code: str) -> str:
    """Return what a reason says in words; an unknown code is spelled out."""
    known = SKIP_REASONS.get(code)
    return known.title if known else code.replace("_", " ")
