"""The words of this site, each explained once; pages link to them by their anchor."""

from typing import NamedTuple


class Word(NamedTuple):
    """One word and what it means here."""

    name: str
    meaning: str

    @property
    def anchor(self) -> str:
        """Return where the help page explains the word: ``word-config-key``."""
        return f"word-{self.name.replace(' ', '-')}"


_MEASURED = (
    Word(
        "config key",
        "The name under which a configuration is published, such as "
        "qwen3.5-fp4-mi355x-sglang-mtp. It is compared as a whole; its parts are "
        "never read out of it.",
    ),
    Word(
        "deployment",
        "How one measurement was laid out over GPUs: parallel sizes, data-parallel "
        "attention, prefill and decode workers, offloading, speculative method. One "
        "config key is usually measured in several deployments.",
    ),
    Word(
        "scenario",
        "What was asked of the server: a fixed input and output length, written "
        "8k/1k, or the replay of recorded agent sessions, written agentic traces.",
    ),
    Word(
        "concurrency",
        "How many requests were kept in flight at once. Written c64; the artifacts "
        "call it conc.",
    ),
    Word(
        "interactivity",
        "The speed that one user sees, in tokens per second per user. Raising "
        "concurrency usually buys throughput with it.",
    ),
    Word(
        "point",
        "One measurement: a deployment at one concurrency within a sweep. When it is "
        "measured again by a later attempt, the newest usable one counts and the "
        "older ones stay listed as replaced.",
    ),
    Word(
        "edition",
        "What an hour of a GPU costs in three tiers and which power it is provisioned, "
        "from a day on. Costs, energy and throughput per MW are made with the edition "
        "of the day that is shown; a value that was published only to hold a place is "
        "never used. Numbers of your own stand over an edition's.",
    ),
    Word(
        "sweep",
        "All points of one run for one config key and one scenario. A curve is drawn "
        "from exactly one sweep, and from the additions made to it.",
    ),
    Word(
        "addition",
        "A sweep that only adds points to the current one of its key, with the same "
        "checkpoint and image. It is drawn on the curve that it extends, and each "
        "point still names its own run.",
    ),
    Word(
        "planned",
        "The points that a run set out to measure, known from the names of its jobs, "
        "or else from the config files at its commit. Without either the plan is "
        "unknown, which is not the same as complete.",
    ),
    Word(
        "received",
        "The points that arrived and count. Thirteen of nineteen means that six "
        "planned points are missing.",
    ),
    Word(
        "frontier",
        "The points of a sweep that no other point of it beats on one axis without "
        "losing on the other. Points that tie stay on it together.",
    ),
    Word(
        "dominated",
        "A point for which the same sweep holds another that is at least as good on "
        "both axes and better on one.",
    ),
)

_RUNS = (
    Word(
        "run",
        "One execution of a workflow on GitHub, known by its id. It may measure "
        "several config keys, or none.",
    ),
    Word(
        "attempt",
        "One try of a run. A rerun keeps the run's id and counts up; what it does not "
        "measure again stays as an earlier attempt left it.",
    ),
    Word(
        "official",
        "A run that counts for the record: a push to the default branch of an "
        "official repository through its sweep workflow, or the run whose results "
        "such a push took over.",
    ),
    Word(
        "unofficial",
        "Every other run, such as one of a pull request. It is stored and drawn the "
        "same way, and never mixed into an official curve.",
    ),
    Word(
        "hidden",
        "An official run that a person took off the official pages. Its rows stay, "
        "and so does the reason.",
    ),
    Word(
        "published by",
        "Some merges do not measure again: they take over the results of a run of "
        "their pull request. The measurements belong to the source run, the official "
        "date is that of the merge.",
    ),
    Word("current", "The sweep that is shown for its config key and scenario today."),
    Word("former", "A sweep that was current until a newer one took its place."),
    Word(
        "held",
        "An official sweep that does not replace the current one, because it received "
        "fewer points than planned, or lost too many of those known before, or "
        "because a person held it. A later attempt or a person can release it.",
    ),
    Word(
        "correction",
        "What a person decided about a run, a sweep or a point: hide, hold, publish "
        "or exclude. It carries its author and reason, and can be undone.",
    ),
    Word(
        "ingest request",
        "A piece of work asked of the background worker, such as reading a downloaded "
        "run. Its progress and its error are shown while it goes on.",
    ),
)

_CHANGES = (
    Word(
        "model",
        "A family of weights, such as Qwen 3.5. Several checkpoints belong to it.",
    ),
    Word("checkpoint", "The exact weights that the server loaded."),
    Word(
        "swap",
        "Two official sweeps of a key that follow each other and served different "
        "checkpoints. The numbers before and after answer different questions.",
    ),
    Word(
        "segment",
        "The sweeps of a key between two breaks. Comparisons stay inside it.",
    ),
    Word(
        "marker",
        "A change within a segment, such as another image or recipe. It is shown and "
        "does not keep sweeps from being compared.",
    ),
    Word(
        "baseline",
        "The earlier side of a comparison, against which something is judged.",
    ),
    Word("candidate", "The side of a comparison that is being judged."),
    Word(
        "gain",
        "How much a value changed relative to the baseline, with the sign turned so "
        "that plus is better, for latencies too.",
    ),
    Word(
        "verdict",
        "What a comparison came to: worse, better, both, nothing that stands out of "
        "the noise, or not decidable. It is computed.",
    ),
    Word(
        "like for like",
        "How the area under the points changed that both sides measured. What only one "
        "side measured changes nothing here; its 95 % interval stands beside it.",
    ),
    Word(
        "worst local loss",
        "The place of the baseline behind which the other side falls most, and by how "
        "much, whatever was gained elsewhere.",
    ),
    Word(
        "coverage",
        "Which points were received, of those planned, and which deployments and "
        "concurrencies only one side measured.",
    ),
    Word(
        "eval gate",
        "A frontier of only those points whose deployment passed its evals or, where "
        "it has none, whose key and checkpoint did. Without an eval nothing passes.",
    ),
    Word(
        "recovery",
        "The eval score of a checkpoint as a share of the score of the checkpoint it "
        "was made from, where staff declared one.",
    ),
    Word(
        "triage state",
        "What a person made of a verdict: looked at, expected, noise, fixed and so on.",
    ),
)

_DATA = (
    Word("record", "A JSON object as an artifact held it. It is kept unchanged."),
    Word("row", "A record after it was checked and given types and units."),
    Word(
        "skip",
        "A record, file or artifact that did not become a row, with the reason. "
        "Nothing is left out silently.",
    ),
    Word(
        "flag",
        "A doubt about a point that was stored. Grave ones keep the point off the "
        "frontier; the others are notes.",
    ),
    Word(
        "mapping",
        "How the config key of a row was found, since rows do not name it: by the "
        "fingerprint of its recipe, by its attributes, by the changelog, or not.",
    ),
    Word(
        "acceptance length",
        "How many tokens speculative decoding yields per step. Where a run set it "
        "instead of measuring it, pages say configured.",
    ),
    Word(
        "floor",
        "The lowest eval score that counts as passed, per model and task.",
    ),
    Word(
        "thin margin",
        "A score that reaches its floor while the 95 % interval around it still "
        "holds values below. Counts as passed.",
    ),
    Word(
        "borderline",
        "A score below its floor by less than its 95 % interval. Counts neither as "
        "passed nor as failed.",
    ),
    Word(
        "generation",
        "A counter that goes up whenever shown data change. Cached answers of an "
        "older generation are not used.",
    ),
)

CHAPTERS: dict[str, tuple[Word, ...]] = {
    "What is measured": _MEASURED,
    "Runs and what counts": _RUNS,
    "Changes and comparisons": _CHANGES,
    "From files to points": _DATA,
}

WORDS = {word.name: word for words in CHAPTERS.values() for word in words}
