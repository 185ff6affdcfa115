"""What names of checkpoints say, and which mean the same weights."""

import json
from collections import Counter
from pathlib import Path

import pytest

from dashboard.vocabulary.checkpoints import (
    SPELLINGS,
    family_of,
    is_published,
    kind_of_change,
    meant_name,
    read_name,
    what_differs,
)

R1_FP4 = "nvidia/DeepSeek-R1-0528-NVFP4-v2"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "amd/Qwen3.5-397B-A17B-MXFP4-AttnFP8-V2",
            ("amd", "Qwen3.5-397B-A17B", "MXFP4-AttnFP8-V2", "qwen3.5"),
        ),
        (R1_FP4, ("nvidia", "DeepSeek-R1-0528", "NVFP4-V2", "dsr1")),
        ("Qwen/Qwen3.5-397B-A17B-FP8", ("Qwen", "Qwen3.5-397B-A17B", "FP8", "qwen3.5")),
        ("deepseek-r1-fp4", ("", "deepseek-r1", "FP4", "dsr1")),
        ("/models/kimi-k3/", ("", "kimi-k3", "", "kimik3")),
        ("org-a/Model", ("org-a", "Model", "", "")),
        (
            "amd/gpt-oss-120b-w-mxfp4-a-fp8",
            ("amd", "gpt-oss-120b", "W-MXFP4-A-FP8", "gptoss120b"),
        ),
    ],
)
def test_a_name_tells_publisher_release_quantisation_and_family(
    name: str, expected: tuple[str, str, str, str]
) -> None:
    read = read_name(name)
    found = (read.publisher, read.release, read.quantisation, read.family)
    assert found == expected


@pytest.mark.parametrize("name", ["/a/b", "./a", "~/a", "model", "a/b/c"])
def test_paths_and_served_names_are_not_published(name: str) -> None:
    assert not is_published(name)
    assert is_published("org-a/Model")


def test_the_recorded_history_holds_11_swaps_and_5_spellings(shared_data: Path) -> None:
    lines = (shared_data / "config-history.jsonl").read_text().splitlines()
    changes = [c for line in lines if (c := json.loads(line))["kind"] == "model"]
    kinds = [(c["key"], kind_of_change(c["old"], c["new"])) for c in changes]
    assert Counter(kind for _, kind in kinds) == {"swap": 11, "spelling": 5}
    assert kinds.count(("gptoss-fp4-mi355x-vllm", "swap")) == 2
    assert kinds.count(("minimaxm3-fp8-mi355x-atom-disagg", "swap")) == 1
    assert kinds.count(("qwen3.5-fp4-b200-sglang", "swap")) == 1


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("org-a/Model", "ORG-A/model", "spelling"),
        ("org-a/Model", "org-b/Model", "swap"),
        ("org-a/Model", "/mnt/weights/model", "spelling"),
        ("org-a/Model", "/mnt/weights/model/", "spelling"),
        ("org-a/Model", "/mnt/weights/model-v2", "swap"),
        ("DEEPSEEK-R1-FP4", R1_FP4, "spelling"),
        ("deepseek-r1-fp4", "deepseek-ai/DeepSeek-R1-0528", "swap"),
    ],
)
def test_published_names_are_compared_whole_and_others_by_their_last_part(
    before: str, after: str, kind: str
) -> None:
    assert kind_of_change(before, after) == kind
    assert kind_of_change(after, before) == kind


def test_staff_spellings_go_before_built_in_ones() -> None:
    staff = {"deepseek-r1-fp4": "org-a/Other", "served": "org-a/Model"}
    assert kind_of_change("deepseek-r1-fp4", R1_FP4, staff) == "swap"
    assert kind_of_change("Served", "org-a/Model", staff) == "spelling"


def test_built_in_spellings_mean_published_names_and_say_why() -> None:
    for spelling, meant in SPELLINGS.items():
        assert not is_published(spelling)
        assert is_published(meant.name)
        assert meant.reason
        assert meant_name(spelling.upper()) == meant.name
        assert family_of(spelling) == family_of(meant.name)
    assert meant_name("org-a/Model") == "org-a/Model"


def test_what_differs_is_said_by_part() -> None:
    base = "Qwen3.5-397B-A17B-MXFP4"
    assert what_differs(f"amd/{base}", f"nvidia/{base}-AttnFP8-V2") == [
        "publisher amd to nvidia",
        "quantisation MXFP4 to MXFP4-AttnFP8-V2",
    ]
    assert what_differs("zai/GLM-5", "zai/GLM-5.1-FP8") == [
        "release GLM-5 to GLM-5.1",
        "quantisation not named to FP8",
    ]
    assert what_differs("zai/GLM-5", "ZAI/glm-5") == []
