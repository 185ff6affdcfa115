"""The runs of the story in which something happens."""

from demo import keys, outcomes
from demo.masters import Edit, checkpoint, image, search_space
from demo.repository import ADDRESS
from demo.runs import Attempt, Entry, Event, Run

NEW_WEIGHTS = "northwind/Qwen3.5-397B-A17B-FP4-Attn8"
TP2_ONLY = (
    search_space(keys.SGLANG, {"tp": 2, "conc-start": 4, "conc-end": 256}),
    search_space(
        keys.SGLANG_MTP,
        {"tp": 2, "conc-start": 4, "conc-end": 128, "spec-decoding": "mtp"},
    ),
)
TRT_IMAGE = "registry.demo.example#harborlight/trt-serve:1.10"


def gb200_baseline() -> Run:
    """Disaggregated roles; the largest topology needs a second attempt."""
    return Run(
        name="gb200-baseline",
        days=40,
        hour=9.5,
        title="Add DeepSeek R1 on GB200 with separate prefill and decode",
        entries=(
            Entry((keys.DSR1_GB200,), ("Serve prefill and decode on separate GPUs.",)),
        ),
        pull_request=13,
        attempts=(
            Attempt("failure", outcomes.largest_fails),
            Attempt("success", outcomes.only_largest, after_h=4.5),
        ),
        power=outcomes.no_power,
    )


def agentic_discovery() -> Run:
    """A pull request whose offloading points answer no request."""
    return Run(
        name="agentic-discovery",
        days=36,
        hour=13.6,
        title="Try host memory for the agentic arm on B200",
        entries=(
            Entry(
                (keys.AGENTIC_B200,), ("Look for the knee, with and without offload.",)
            ),
        ),
        event=Event.PULL_REQUEST,
        pull_request=21,
        branch="agentic/b200-host-memory",
        attempts=(Attempt("failure", outcomes.offload_answers_nothing),),
    )


def amd_image() -> Run:
    """An image bump that makes two keys a few percent faster."""
    return Run(
        name="amd-image",
        days=33,
        hour=5.1,
        title="Bump the SGLang image of MI355X to 0.7.2",
        entries=(
            Entry(keys.SWAPPED, ("Move to image 0.7.2: faster attention kernels.",)),
        ),
        pull_request=27,
        edits=image("harborlight/sglang-amd:0.7.2", *keys.SWAPPED, keys.AGENTIC),
    )


def trt_tuning() -> Run:
    """A pull request that goes well and is never merged."""
    return Run(
        name="trt-tuning",
        days=30,
        hour=15.2,
        title="Try TRT image 1.10 for DeepSeek R1 on B200",
        entries=(Entry((keys.DSR1_TRT,), ("Try image 1.10.",)),),
        event=Event.PULL_REQUEST,
        pull_request=33,
        branch="trt/image-1.10",
        edits=image(TRT_IMAGE, keys.DSR1_TRT),
    )


def dsr1_wildcard() -> Run:
    """A changelog entry that names its keys by a pattern."""
    return Run(
        name="dsr1-wildcard",
        days=29,
        hour=4.0,
        title="Refresh DeepSeek R1 on SGLang",
        entries=(Entry(("dsr1-fp8-*-sglang",), ("Move to image 0.7.2.",)),),
        pull_request=35,
        edits=(
            *image("harborlight/sglang:0.7.2", keys.DSR1_H200),
            *image("harborlight/sglang-amd:0.7.2", keys.DSR1_MI300X),
        ),
    )


def h200_nightly() -> Run:
    """A run started by hand, on a nightly image, without a changelog."""
    return Run(
        name="h200-nightly",
        days=27,
        hour=20.0,
        title="Nightly vLLM on H200",
        entries=(Entry((keys.H200,), ()),),
        event=Event.DISPATCH,
        branch="nightly/vllm",
        edits=image("harborlight/vllm:nightly-77c1", keys.H200),
    )


def mi300x_append() -> Run:
    """A run that adds two concurrencies to a sweep."""
    block = {"tp": 8, "conc-start": 4, "conc-end": 256}
    return Run(
        name="mi300x-append",
        days=26,
        hour=7.4,
        title="Measure MI300X at larger concurrency",
        entries=(
            Entry((keys.MI300X,), ("Add concurrency 128 and 256.",), append_only=True),
        ),
        pull_request=41,
        edits=(search_space(keys.MI300X, block),),
        only=frozenset({128, 256}),
    )


def swap_crash() -> Run:
    """The first sweep of new weights: the TP4 jobs crash, the link is missing."""
    return Run(
        name="swap-crash",
        days=22,
        hour=5.7,
        title="Serve Qwen3.5 with 8-bit attention weights on MI355X",
        entries=(
            Entry(
                keys.SWAPPED,
                ("Serve the checkpoint with 8-bit attention.",),
                link="PR_LINK_PLACEHOLDER",
            ),
        ),
        event=Event.PULL_REQUEST,
        pull_request=49,
        branch="mi355x/attn8",
        edits=checkpoint(NEW_WEIGHTS, *keys.SWAPPED),
        attempts=(Attempt("failure", outcomes.tp4_crashes),),
    )


def _swap_edits() -> tuple[Edit, ...]:
    return (*checkpoint(NEW_WEIGHTS, *keys.SWAPPED), *TP2_ONLY)


def swap_clean() -> Run:
    """The second sweep of new weights, without the TP4 band."""
    return Run(
        name="swap-clean",
        days=21,
        hour=9.4,
        title="Serve Qwen3.5 with 8-bit attention weights on MI355X",
        entries=(_swap_entry(link=f"{ADDRESS}/pull/XXX"),),
        event=Event.PULL_REQUEST,
        pull_request=49,
        branch="mi355x/attn8",
        edits=_swap_edits(),
    )


def _swap_entry(link: str | None = None) -> Entry:
    return Entry(
        keys.SWAPPED,
        (
            "Serve the checkpoint with 8-bit attention.",
            "Drop the TP4 band, whose shapes have no kernel.",
        ),
        link=link,
    )


def swap_merge() -> Run:
    """The merge that publishes what `swap_clean` measured."""
    return Run(
        name="swap-merge",
        days=20,
        hour=17.1,
        title="Serve Qwen3.5 with 8-bit attention weights on MI355X (#49)",
        entries=(_swap_entry(),),
        pull_request=49,
        edits=_swap_edits(),
        reuses="swap-clean",
    )


def agentic_cancelled() -> Run:
    """A pull request of which all three attempts were cancelled."""
    return Run(
        name="agentic-cancelled",
        days=17,
        hour=4.2,
        title="Fuse the all-reduce of the agentic arm on MI355X",
        entries=(Entry((keys.AGENTIC,), ("Fuse the all-reduce with the norm.",)),),
        event=Event.PULL_REQUEST,
        pull_request=59,
        branch="agentic/fused-reduce",
        attempts=(
            Attempt("cancelled", outcomes.first_try),
            Attempt("cancelled", outcomes.second_try, after_h=4.0),
            Attempt("cancelled", outcomes.third_try, after_h=8.5),
        ),
    )


def b200_image(name: str, days: int, new: str, pull_request: int) -> Run:
    """An image bump of the B200 key; `machines` knows which one is slower."""
    return Run(
        name=name,
        days=days,
        hour=2.5,
        title=f"Bump the SGLang image of B200 to {new.rpartition(':')[2]}",
        entries=(Entry((keys.B200,), (f"Move to image {new.rpartition(':')[2]}.",)),),
        pull_request=pull_request,
        edits=image(new, keys.B200),
    )


def dsv4_incomplete() -> Run:
    """An official sweep of which half the jobs failed."""
    return Run(
        name="dsv4-incomplete",
        days=13,
        hour=10.3,
        title="Refresh DeepSeek V4 on MI355X",
        entries=(Entry((keys.DSV4_MI355X,), ("Move to image 0.21.2.",)),),
        pull_request=67,
        edits=image("harborlight/vllm-amd:0.21.2", keys.DSV4_MI355X),
        attempts=(Attempt("failure", outcomes.large_fails),),
    )


def dsv4_gpqa() -> Run:
    """A sweep whose evals hold two tasks."""
    return Run(
        name="dsv4-gpqa",
        days=10,
        hour=8.0,
        title="Repeat DeepSeek V4 on B200 with GPQA",
        entries=(Entry((keys.DSV4_B200,), ("Ask GPQA as well.",)),),
        pull_request=73,
        gpqa=True,
    )


def mi325x(name: str, days: int, event: Event) -> Run:
    """A gain, measured on a branch and then again on main."""
    branch = "main" if event is Event.PUSH else "mi325x/vllm-0.21.1"
    return Run(
        name=name,
        days=days,
        hour=12.0,
        title="Tune vLLM for MI325X",
        entries=(Entry((keys.MI325X,), ("Tune the expert kernels, image 0.21.1.",)),),
        event=event,
        pull_request=75,
        branch=branch,
        edits=image("harborlight/vllm-amd:0.21.1", keys.MI325X),
    )


def dsr1_evals() -> Run:
    """Evals without throughput; one score misses its floor by little."""
    return Run(
        name="dsr1-evals",
        days=6,
        hour=6.6,
        title="Evaluate DeepSeek R1 on B200 again",
        entries=(
            Entry((keys.DSR1_TRT,), ("Evals with image 1.10.",), evals_only=True),
        ),
        pull_request=81,
        edits=image(TRT_IMAGE, keys.DSR1_TRT),
        # Below the floor of 0.91, which lies within the interval.
        scores={(keys.DSR1_TRT, 128): (1196, 1190)},
    )


def agentic_image() -> Run:
    """Measure the image that the key has had since amd-image, for the first time."""
    return Run(
        name="agentic-image",
        days=5,
        hour=1.0,
        title="Measure the agentic arm on MI355X with image 0.7.2",
        entries=(Entry((keys.AGENTIC,), ("First sweep with image 0.7.2.",)),),
        pull_request=83,
        keeps_requests=True,
    )


def atom_power() -> Run:
    """An image bump with one point whose power telemetry is invalid."""
    return Run(
        name="atom-power",
        days=3,
        hour=14.8,
        title="Bump the ATOM image of MI355X to 2.4.0",
        entries=(Entry((keys.ATOM,), ("Move to image 2.4.0.",)),),
        pull_request=87,
        edits=image("harborlight/atom:2.4.0", keys.ATOM),
        power=outcomes.one_without_power,
    )
