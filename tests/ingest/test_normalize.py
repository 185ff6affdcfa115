"""What the spellings in artifacts mean."""

import pytest

from dashboard.vocabulary.frameworks import framework_label, same_framework
from dashboard.vocabulary.hardware import HARDWARE, hardware_label, hardware_order
from dashboard.vocabulary.models import model_group, model_label, models_of_group
from dashboard.vocabulary.scenarios import scenario_label, scenario_order
from ingest import normalize


@pytest.mark.parametrize(
    ("label", "base"),
    [
        ("gb300-cw", "gb300"),
        ("b200-dgxc-slurm", "b200"),
        ("h200-nv_3", "h200"),
        ("cluster:b300-nv", "b300"),
        ("CLUSTER:MI355X-AMDS", "mi355x"),
        ("mi355x", "mi355x"),
        ("rtx6000pro-lat", "rtx6000pro"),
        ("xyz900-lab", None),
        ("", None),
    ],
)
def test_hardware_base_cuts_pool_and_cluster(label: str, base: str | None) -> None:
    assert normalize.hardware_base(label) == base


def test_unknown_hardware_keeps_its_name_for_the_report() -> None:
    assert normalize.hardware_name("cluster:xyz900-lab_07") == "xyz900"


@pytest.mark.parametrize(
    ("prefix", "path", "model"),
    [
        ("qwen3.5", None, "qwen3.5"),
        ("GPTOSS", None, "gptoss120b"),
        ("dsv4pro", None, "dsv4"),
        ("kimik2.7", None, "kimik2.7-code"),
        ("dsr1-fp8-extra", None, "dsr1"),
        (None, "/mnt/lustre01/models/deepseek-r1-0528-fp4-v2", "dsr1"),
        (None, "/models/DeepSeek-R1/", "dsr1"),
        ("never-seen", "openai/gpt-oss-120b", "gptoss120b"),
        ("", "amd/Qwen3.5-397B-A17B-MXFP4-AttnFP8-V2", "qwen3.5"),
        ("never-seen", "acme/Foo", None),
        (None, None, None),
    ],
)
def test_model_comes_from_prefix_then_path(
    prefix: str | None, path: str | None, model: str | None
) -> None:
    assert normalize.canonical_model(prefix, path) == model


def test_prefix_of_a_model_is_the_one_of_the_master_configs() -> None:
    assert normalize.model_prefix_of("gptoss120b") == "gptoss"
    assert normalize.model_prefix_of("dsr1") == "dsr1"


def test_framework_aliases_are_one_framework() -> None:
    assert normalize.canonical_framework("SGLANG-disagg") == "mori-sglang"
    assert normalize.canonical_framework("dynamo-trtllm") == "dynamo-trt"
    assert normalize.canonical_framework("SGLANG") == "sglang"
    assert normalize.canonical_framework("newfw") == "newfw"
    assert same_framework("sglang-disagg") == {"sglang-disagg", "mori-sglang"}
    assert framework_label("sglang-disagg") == "MoRI SGLang"
    assert framework_label("newfw") == "newfw"


def test_precision_spellings() -> None:
    assert normalize.canonical_precision("NVFP4") == "fp4"
    assert normalize.canonical_precision("fp8block") == "fp8"
    assert normalize.canonical_precision("fp6") == "fp6"
    assert not normalize.known_precision("fp6")


def test_spec_method_is_none_for_nothing() -> None:
    assert normalize.spec_method(None) == "none"
    assert normalize.spec_method("") == "none"
    assert normalize.spec_method("MTP") == "mtp"
    assert normalize.spec_method("eagle") == "eagle"


@pytest.mark.parametrize("value", [True, "true", "True", " TRUE ", 1, "1"], ids=repr)
def test_true_has_many_spellings(value: object) -> None:
    assert normalize.parse_bool(value) is True


@pytest.mark.parametrize("value", [False, "false", "False", 0], ids=repr)
def test_false_has_many_spellings(value: object) -> None:
    assert normalize.parse_bool(value) is False


@pytest.mark.parametrize("value", [None, "", "yes?", 2, 1.0, [], {}], ids=repr)
def test_anything_else_is_unknown(value: object) -> None:
    assert normalize.parse_bool(value) is None


def test_scenario_text() -> None:
    assert normalize.scenario_text(8192, 1024) == "8k/1k"
    assert normalize.scenario_text(1024, 1024) == "1k/1k"
    assert normalize.scenario_text(1024, 8192) == "1k/8k"
    assert normalize.scenario_text(32768, 512) == "32768_512"
    assert scenario_label("32768_512") == "32768/512"
    assert scenario_order("8k/1k") < scenario_order("agentic-traces")


def test_lengths_are_read_from_names() -> None:
    assert normalize.lengths_in_name("bmk_dsr1_1k8k_fp4_sglang") == (1024, 8192)
    assert normalize.lengths_in_name("agg_dsr1_8k1k") == (8192, 1024)
    assert normalize.lengths_in_name("qwen3.5_tp2_conc4_kvnone") is None


def test_hardware_has_one_order_and_labels() -> None:
    assert min(HARDWARE, key=hardware_order) == "gb300"
    assert hardware_label("mi355x") == "MI355X"
    assert hardware_label("xyz900") == "XYZ900"
    assert hardware_order("xyz900") > hardware_order("rtx5090")


def test_models_have_labels_and_groups() -> None:
    assert model_label("kimik2.6") == "Kimi-K2.6"
    assert model_group("kimik2.6") == model_group("kimik2.5") == "Kimi-K2.5"
    assert models_of_group("GLM-5") == ["glm5.1", "glm5"]
    assert model_label("foo") == model_group("foo") == "foo"
