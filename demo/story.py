"""The story that the demo tells: runs in order of time, and why each is there.

======================  =====================================================
run                     what it shows
======================  =====================================================
amd-baseline ...        first sweeps of every key: frontiers without history
gb200-baseline          disaggregated roles, several rows in one artifact, two
                        attempts: one job fails and is run again
agentic-baseline        agentic only: no aggregate of rows, no run statistics
agentic-discovery       pull request; offloading points answer no request
amd-image               image bump, a few percent faster: a marker, no break
trt-tuning              pull request that is fine, and stays unofficial
dsr1-wildcard           changelog that names its keys by a pattern
h200-nightly            started by hand, nightly image, no changelog
mi300x-append           append-only: two new concurrencies of a sweep
swap-crash              first sweep of a new checkpoint: TP4 jobs crash, and
                        the changelog link is a placeholder
swap-clean              second sweep, without the TP4 band
swap-merge              merge that publishes the measurements of swap-clean
agentic-cancelled       three cancelled attempts with overlapping uploads
b200-regression         -8 % from concurrency 64 on, with an image bump
dsv4-incomplete         official sweep of which half is missing: held
b200-recovery           the next image: back at the former level
dsv4-gpqa               gsm8k and GPQA in one eval artifact
mi325x-candidate        pull request, +12 %
mi325x-merged           the same, measured again on main
dsr1-evals              evals only, one score between floor and interval
atom-power              a point with invalid power telemetry
======================  =====================================================

The other runs repeat a measurement: history, and material for the noise.
"""

from demo.keys import (
    AGENTIC,
    AGENTIC_B200,
    ATOM,
    B200,
    DSR1_GB200,
    DSR1_H200,
    DSR1_MI300X,
    DSR1_TRT,
    DSV4_B200,
    DSV4_H200,
    DSV4_MI355X,
    H200,
    MI300X,
    MI325X,
    SGLANG,
    SGLANG_MTP,
    SWAPPED,
)
from demo.masters import Edit, checkpoint, image, search_space
from demo.outcomes import (
    first_try,
    large_fails,
    largest_fails,
    no_power,
    offload_answers_nothing,
    one_without_power,
    only_largest,
    second_try,
    third_try,
    tp4_crashes,
)
from demo.repository import ADDRESS
from demo.runs import Attempt, Entry, Event, Run

NEW_WEIGHTS = "northwind/Qwen3.5-397B-A17B-FP4-Attn8"
TP2_ONLY = (
    search_space(SGLANG, {"tp": 2, "conc-start": 4, "conc-end": 256}),
    search_space(
        SGLANG_MTP,
        {"tp": 2, "conc-start": 4, "conc-end": 128, "spec-decoding": "mtp"},
    ),
)
TRT_IMAGE = "registry.demo.example#harborlight/trt-serve:1.10"


def story() -> list[Run]:
    """Return all runs, oldest first."""
    return [*_first_weeks(), *_swap_weeks(), *_last_weeks()]


def _first_sweep(name: str, days: int, title: str, *keys: str) -> Run:
    text = "Measure these keys for the first time."
    return Run(name, days, 3.2, title, (Entry(keys, (text,)),), pull_request=44 - days)


def _repeat(name: str, days: int, *keys: str, hour: float = 2.0) -> Run:
    text = "Repeat the sweep without any change, to watch the noise."
    title = f"Scheduled repeat of {keys[0]}"
    entry = Entry(keys, (text,))
    return Run(name, days, hour, title, (entry,), pull_request=100 - days)


def _first_weeks() -> list[Run]:
    return [
        _first_sweep("amd-baseline", 44, "Add Qwen3.5 FP4 on MI355X", *SWAPPED, ATOM),
        _first_sweep("nvidia-baseline", 43, "Add Qwen3.5 on B200 and H200", B200, H200),
        _first_sweep("cdna3-baseline", 42, "Add Qwen3.5 FP8 on CDNA 3", MI325X, MI300X),
        _first_sweep(
            "dsr1-baseline", 41, "Add DeepSeek R1", DSR1_H200, DSR1_MI300X, DSR1_TRT
        ),
        _gb200_baseline(),
        _first_sweep(
            "dsv4-baseline", 39, "Add DeepSeek V4", DSV4_B200, DSV4_MI355X, DSV4_H200
        ),
        _first_sweep("agentic-baseline", 37, "Add an agentic arm on MI355X", AGENTIC),
        _agentic_discovery(),
        _first_sweep("agentic-b200", 34, "Add an agentic arm on B200", AGENTIC_B200),
        _amd_image(),
        _repeat("nvidia-repeat", 31, B200, H200),
    ]


def _gb200_baseline() -> Run:
    return Run(
        name="gb200-baseline",
        days=40,
        hour=9.5,
        title="Add DeepSeek R1 on GB200 with separate prefill and decode",
        entries=(
            Entry((DSR1_GB200,), ("Serve prefill and decode on separate GPUs.",)),
        ),
        pull_request=4,
        attempts=(
            Attempt("failure", largest_fails, evaluates=True),
            Attempt("success", only_largest, after_h=4.5, evaluates=False),
        ),
        power=no_power,
    )


def _agentic_discovery() -> Run:
    return Run(
        name="agentic-discovery",
        days=36,
        hour=13.6,
        title="Try host memory for the agentic arm on B200",
        entries=(
            Entry((AGENTIC_B200,), ("Look for the knee, with and without offload.",)),
        ),
        event=Event.PULL_REQUEST,
        pull_request=9,
        branch="agentic/b200-host-memory",
        attempts=(Attempt("failure", offload_answers_nothing),),
    )


def _amd_image() -> Run:
    return Run(
        name="amd-image",
        days=33,
        hour=5.1,
        title="Bump the SGLang image of MI355X to 0.7.2",
        entries=(Entry(SWAPPED, ("Move to image 0.7.2: faster attention kernels.",)),),
        pull_request=12,
        edits=image("harborlight/sglang-amd:0.7.2", *SWAPPED, AGENTIC),
    )


def _swap_weeks() -> list[Run]:
    return [
        _trt_tuning(),
        _dsr1_wildcard(),
        _h200_nightly(),
        _mi300x_append(),
        _repeat("b200-repeat", 25, B200),
        _repeat("gb200-repeat", 24, DSR1_GB200, hour=11.0),
        _swap_crash(),
        _swap_clean(),
        _swap_merge(),
        _repeat("fp8-repeat", 19, MI325X, H200, hour=6.0),
        _agentic_cancelled(),
    ]


def _trt_tuning() -> Run:
    return Run(
        name="trt-tuning",
        days=30,
        hour=15.2,
        title="Try TRT image 1.10 for DeepSeek R1 on B200",
        entries=(Entry((DSR1_TRT,), ("Try image 1.10.",)),),
        event=Event.PULL_REQUEST,
        pull_request=17,
        branch="trt/image-1.10",
        edits=image(TRT_IMAGE, DSR1_TRT),
    )


def _dsr1_wildcard() -> Run:
    return Run(
        name="dsr1-wildcard",
        days=29,
        hour=4.0,
        title="Refresh DeepSeek R1 on SGLang",
        entries=(Entry(("dsr1-fp8-*-sglang",), ("Move to image 0.7.2.",)),),
        pull_request=18,
        edits=(
            *image("harborlight/sglang:0.7.2", DSR1_H200),
            *image("harborlight/sglang-amd:0.7.2", DSR1_MI300X),
        ),
    )


def _h200_nightly() -> Run:
    return Run(
        name="h200-nightly",
        days=27,
        hour=20.0,
        title="Nightly vLLM on H200",
        entries=(Entry((H200,), ()),),
        event=Event.DISPATCH,
        branch="nightly/vllm",
        edits=image("harborlight/vllm:nightly-77c1", H200),
    )


def _mi300x_append() -> Run:
    block = {"tp": 8, "conc-start": 4, "conc-end": 256}
    return Run(
        name="mi300x-append",
        days=26,
        hour=7.4,
        title="Measure MI300X at larger concurrency",
        entries=(
            Entry((MI300X,), ("Add concurrency 128 and 256.",), append_only=True),
        ),
        pull_request=21,
        edits=(search_space(MI300X, block),),
        only=frozenset({128, 256}),
    )


def _swap_crash() -> Run:
    return Run(
        name="swap-crash",
        days=22,
        hour=5.7,
        title="Serve Qwen3.5 with 8-bit attention weights on MI355X",
        entries=(
            Entry(
                SWAPPED,
                ("Serve the checkpoint with 8-bit attention.",),
                link="PR_LINK_PLACEHOLDER",
            ),
        ),
        event=Event.PULL_REQUEST,
        pull_request=25,
        branch="mi355x/attn8",
        edits=checkpoint(NEW_WEIGHTS, *SWAPPED),
        attempts=(Attempt("failure", tp4_crashes),),
    )


def _swap_edits() -> tuple[Edit, ...]:
    return (*checkpoint(NEW_WEIGHTS, *SWAPPED), *TP2_ONLY)


def _swap_clean() -> Run:
    return Run(
        name="swap-clean",
        days=21,
        hour=9.4,
        title="Serve Qwen3.5 with 8-bit attention weights on MI355X",
        entries=(_swap_entry(link=f"{ADDRESS}/pull/XXX"),),
        event=Event.PULL_REQUEST,
        pull_request=25,
        branch="mi355x/attn8",
        edits=_swap_edits(),
    )


def _swap_entry(link: str | None = None) -> Entry:
    return Entry(
        SWAPPED,
        (
            "Serve the checkpoint with 8-bit attention.",
            "Drop the TP4 band, whose shapes have no kernel.",
        ),
        link=link,
    )


def _swap_merge() -> Run:
    return Run(
        name="swap-merge",
        days=20,
        hour=17.1,
        title="Serve Qwen3.5 with 8-bit attention weights on MI355X (#25)",
        entries=(_swap_entry(),),
        pull_request=25,
        edits=_swap_edits(),
        reuses="swap-clean",
    )


def _agentic_cancelled() -> Run:
    return Run(
        name="agentic-cancelled",
        days=17,
        hour=4.2,
        title="Fuse the all-reduce of the agentic arm on MI355X",
        entries=(Entry((AGENTIC,), ("Fuse the all-reduce with the norm.",)),),
        event=Event.PULL_REQUEST,
        pull_request=28,
        branch="agentic/fused-reduce",
        attempts=(
            Attempt("cancelled", first_try),
            Attempt("cancelled", second_try, after_h=4.0),
            Attempt("cancelled", third_try, after_h=8.5),
        ),
    )


def _last_weeks() -> list[Run]:
    return [
        _b200_image("b200-regression", 16, "harborlight/sglang:0.7.3", 29),
        _repeat("swap-repeat", 15, *SWAPPED),
        _dsv4_incomplete(),
        _b200_image("b200-recovery", 12, "harborlight/sglang:0.7.4", 33),
        _dsv4_gpqa(),
        _mi325x("mi325x-candidate", 9, Event.PULL_REQUEST),
        _mi325x("mi325x-merged", 8, Event.PUSH),
        _dsr1_evals(),
        _repeat("agentic-repeat", 5, AGENTIC, hour=1.0),
        _repeat("dsr1-repeat", 4, DSR1_H200),
        _atom_power(),
        _repeat("mi355x-repeat", 1, *SWAPPED, hour=5.0),
        _repeat("b200-last", 0, B200, hour=0.02),
    ]


def _b200_image(name: str, days: int, new: str, pull_request: int) -> Run:
    return Run(
        name=name,
        days=days,
        hour=2.5,
        title=f"Bump the SGLang image of B200 to {new.rpartition(':')[2]}",
        entries=(Entry((B200,), (f"Move to image {new.rpartition(':')[2]}.",)),),
        pull_request=pull_request,
        edits=image(new, B200),
    )


def _dsv4_incomplete() -> Run:
    return Run(
        name="dsv4-incomplete",
        days=13,
        hour=10.3,
        title="Refresh DeepSeek V4 on MI355X",
        entries=(Entry((DSV4_MI355X,), ("Move to image 0.21.2.",)),),
        pull_request=31,
        edits=image("harborlight/vllm-amd:0.21.2", DSV4_MI355X),
        attempts=(Attempt("failure", large_fails),),
    )


def _dsv4_gpqa() -> Run:
    return Run(
        name="dsv4-gpqa",
        days=10,
        hour=8.0,
        title="Repeat DeepSeek V4 on B200 with GPQA",
        entries=(Entry((DSV4_B200,), ("Ask GPQA as well.",)),),
        pull_request=35,
        gpqa=True,
    )


def _mi325x(name: str, days: int, event: Event) -> Run:
    branch = "main" if event is Event.PUSH else "mi325x/vllm-0.21.1"
    return Run(
        name=name,
        days=days,
        hour=12.0,
        title="Tune vLLM for MI325X",
        entries=(Entry((MI325X,), ("Tune the expert kernels, image 0.21.1.",)),),
        event=event,
        pull_request=36,
        branch=branch,
        edits=image("harborlight/vllm-amd:0.21.1", MI325X),
    )


def _dsr1_evals() -> Run:
    return Run(
        name="dsr1-evals",
        days=6,
        hour=6.6,
        title="Evaluate DeepSeek R1 on B200 again",
        entries=(Entry((DSR1_TRT,), ("Evals with image 1.10.",), evals_only=True),),
        pull_request=38,
        edits=image(TRT_IMAGE, DSR1_TRT),
        # Below the floor of 0.91, which lies within the interval.
        scores={(DSR1_TRT, 128): (1196, 1190)},
    )


def _atom_power() -> Run:
    return Run(
        name="atom-power",
        days=3,
        hour=14.8,
        title="Bump the ATOM image of MI355X to 2.4.0",
        entries=(Entry((ATOM,), ("Move to image 2.4.0.",)),),
        pull_request=41,
        edits=image("harborlight/atom:2.4.0", ATOM),
        power=one_without_power,
    )
