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
agentic-image           an image that was bumped without a sweep, weeks ago
atom-power              a point with invalid power telemetry
======================  =====================================================

The other runs repeat a measurement: history, and material for the noise.
"""

from demo import keys, scenes
from demo.runs import Entry, Event, Run


def story() -> list[Run]:
    """Return all runs, oldest first."""
    return [*_first_weeks(), *_swap_weeks(), *_last_weeks()]


def _first_sweep(name: str, days: int, title: str, *named: str) -> Run:
    entry = Entry(named, ("Measure these keys for the first time.",))
    return Run(name, days, 3.2, title, (entry,), pull_request=_pull_request(days))


def _repeat(name: str, days: int, *named: str, hour: float = 2.0) -> Run:
    entry = Entry(named, ("Repeat the sweep without any change of these keys.",))
    title = f"Scheduled repeat of {named[0]}"
    return Run(name, days, hour, title, (entry,), pull_request=_pull_request(days))


def _pull_request(days: int) -> int:
    """Number pull requests by the day on which they are merged."""
    return 2 * (46 - days)


def _first_weeks() -> list[Run]:
    return [
        _first_sweep(
            "amd-baseline", 44, "Add Qwen3.5 FP4 on MI355X", *keys.SWAPPED, keys.ATOM
        ),
        _first_sweep(
            "nvidia-baseline", 43, "Add Qwen3.5 on B200 and H200", keys.B200, keys.H200
        ),
        _first_sweep(
            "cdna3-baseline", 42, "Add Qwen3.5 FP8 on CDNA 3", keys.MI325X, keys.MI300X
        ),
        _first_sweep(
            "dsr1-baseline",
            41,
            "Add DeepSeek R1",
            keys.DSR1_H200,
            keys.DSR1_MI300X,
            keys.DSR1_TRT,
        ),
        scenes.gb200_baseline(),
        _first_sweep(
            "dsv4-baseline",
            39,
            "Add DeepSeek V4",
            keys.DSV4_B200,
            keys.DSV4_MI355X,
            keys.DSV4_H200,
        ),
        _first_sweep(
            "agentic-baseline", 37, "Add an agentic arm on MI355X", keys.AGENTIC
        ),
        scenes.agentic_discovery(),
        _first_sweep(
            "agentic-b200", 34, "Add an agentic arm on B200", keys.AGENTIC_B200
        ),
        scenes.amd_image(),
        _repeat("nvidia-repeat", 31, keys.B200, keys.H200),
    ]


def _swap_weeks() -> list[Run]:
    return [
        scenes.trt_tuning(),
        scenes.dsr1_wildcard(),
        scenes.h200_nightly(),
        scenes.mi300x_append(),
        _repeat("b200-repeat", 25, keys.B200),
        _repeat("gb200-repeat", 24, keys.DSR1_GB200, hour=11.0),
        scenes.swap_crash(),
        scenes.swap_clean(),
        scenes.swap_merge(),
        _repeat("fp8-repeat", 19, keys.MI325X, keys.H200, hour=6.0),
        scenes.agentic_cancelled(),
    ]


def _last_weeks() -> list[Run]:
    return [
        scenes.b200_image("b200-regression", 16, "harborlight/sglang:0.7.3", 61),
        _repeat("swap-repeat", 15, *keys.SWAPPED),
        scenes.dsv4_incomplete(),
        scenes.b200_image("b200-recovery", 12, "harborlight/sglang:0.7.4", 69),
        scenes.dsv4_gpqa(),
        scenes.mi325x("mi325x-candidate", 9, Event.PULL_REQUEST),
        scenes.mi325x("mi325x-merged", 8, Event.PUSH),
        scenes.dsr1_evals(),
        scenes.agentic_image(),
        _repeat("dsr1-repeat", 4, keys.DSR1_H200),
        scenes.atom_power(),
        _repeat("mi355x-repeat", 1, *keys.SWAPPED, hour=5.0),
        _repeat("b200-last", 0, keys.B200, hour=0.02),
    ]
