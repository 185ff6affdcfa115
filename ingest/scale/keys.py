"""The made-up config keys: models, machines, topologies and grids."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from dashboard.vocabulary.deployments import Deployment, deployment_label
from dashboard.vocabulary.scenarios import AGENTIC

# Keys of one model and scenario are measured by one run of a day.
GROUP = 20
MODELS = (
    *("dsr1", "qwen3.5", "dsv4", "glm5.2", "kimik2.5", "minimaxm3", "gptoss120b"),
)
SCENARIOS = ("8k/1k", "1k/1k", AGENTIC)
DEPLOYMENTS = 5
CONCURRENCIES = (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 512)
STEP = 256  # from the largest of them on

# Hardware, framework, precision and spec method of the keys of a group.
_STACKS = (
    ("gb300", "dynamo-trt", "fp4", "none"),
    ("gb300", "dynamo-sglang", "fp4", "none"),
    ("gb200", "dynamo-trt", "fp4", "none"),
    ("gb200", "dynamo-sglang", "fp8", "none"),
    ("b300", "sglang", "fp4", "none"),
    ("b300", "trt", "fp4", "mtp"),
    ("b300", "vllm", "fp4", "none"),
    ("b200", "sglang", "fp4", "none"),
    ("b200", "trt", "fp4", "none"),
    ("b200", "trt", "fp4", "mtp"),
    ("b200", "vllm", "fp8", "none"),
    ("b200", "sglang", "fp8", "mtp"),
    ("mi355x", "sglang", "fp4", "none"),
    ("mi355x", "sglang", "fp4", "mtp"),
    ("mi355x", "atom", "fp4", "none"),
    ("mi355x", "vllm", "fp8", "none"),
    ("h200", "sglang", "fp8", "none"),
    ("h200", "vllm", "fp8", "none"),
    ("mi325x", "sglang", "fp8", "none"),
    ("h100", "vllm", "fp8", "none"),
)
_SUFFIXES = {"8k/1k": "", "1k/1k": "-1k1k", AGENTIC: "-agentic"}


@dataclass(frozen=True, slots=True)
class Shape:
    """A deployment with the GPUs that it needs; ``decode_gpus`` 0 on a single node."""

    deployment: Deployment
    prefill_gpus: int
    decode_gpus: int = 0

    @property
    def gpus(self) -> int:
        """Return all GPUs that take part."""
        return self.prefill_gpus + self.decode_gpus

    @property
    def label(self) -> str:
        """Return the deployment as pages write it."""
        return deployment_label(self.deployment)


@dataclass(frozen=True)
class Key:
    """A config key measured in one scenario; ``number`` counts from 0."""

    number: int
    name: str
    model: str
    scenario: str
    hardware: str
    framework: str
    precision: str
    spec: str
    shapes: tuple[Shape, ...]
    places: tuple[tuple[int, int], ...]

    @property
    def group(self) -> int:
        """Return the number of the run of a day that measures it."""
        return self.number // GROUP

    @property
    def is_agentic(self) -> bool:
        """Tell whether traces are replayed."""
        return self.scenario == AGENTIC

    @cached_property
    def grid(self) -> list[list[object]]:
        """Return [deployment label, [concurrencies]], sorted by label."""
        found: dict[str, list[int]] = {}
        for shape, concurrency in self.places:
            found.setdefault(self.shapes[shape].label, []).append(concurrency)
        return [[label, found[label]] for label in sorted(found)]

    @cached_property
    def planned(self) -> list[list[object]]:
        """Return [deployment label, concurrency] of every place."""
        return [[self.shapes[shape].label, c] for shape, c in self.places]


def keys(count: int, points: int) -> list[Key]:
    """Return so many keys that measure ``points`` points a day together."""
    each, more = divmod(points, count)
    return [_key(n, each + (n < more)) for n in range(count)]


def _key(number: int, points: int) -> Key:
    group, place = divmod(number, GROUP)
    families = list(product(MODELS, SCENARIOS))
    again, family = divmod(group, len(families))
    model, scenario = families[family]
    hardware, framework, precision, spec = _STACKS[place]
    name = f"{model}-{precision}-{hardware}-{framework}"
    name += "-mtp" if spec == "mtp" else ""
    name += _SUFFIXES[scenario] + (f"-{again + 1}" if again else "")
    shapes = tuple(_shapes(framework, spec))
    return Key(
        number=number,
        name=name,
        model=model,
        scenario=scenario,
        hardware=hardware,
        framework=framework,
        precision=precision,
        spec=spec,
        shapes=shapes,
        places=tuple(_places(points)),
    )


def _places(points: int) -> Iterator[tuple[int, int]]:
    """Yield (number of the deployment, concurrency)."""
    each, more = divmod(points, DEPLOYMENTS)
    for shape in range(DEPLOYMENTS):
        for concurrency in _concurrencies(each + (shape < more)):
            yield shape, concurrency


def _concurrencies(count: int) -> Sequence[int]:
    largest = CONCURRENCIES[-1]
    more = count - len(CONCURRENCIES)
    return (
        *CONCURRENCIES[:count],
        *(largest + STEP * (n + 1) for n in range(more)),
    )


def _shapes(framework: str, spec: str) -> Iterator[Shape]:
    if framework.startswith("dynamo"):
        for workers, prefill, decode in (
            *((1, 4, 4), (1, 4, 8), (2, 4, 8)),
            *((2, 8, 16), (4, 8, 32)),
        ):
            yield _disaggregated(workers, prefill, decode, spec)
        return
    for tp, ep, is_parallel in (
        *((1, 1, False), (2, 1, False), (4, 1, False)),
        *((8, 1, False), (8, 8, True)),
    ):
        node = Deployment(
            multinode=False,
            disagg=False,
            tp=tp,
            pp=1,
            dcp=1,
            pcp=1,
            ep=ep,
            dp_attention=is_parallel,
            spec_method=spec,
        )
        yield Shape(node, tp)


def _disaggregated(workers: int, prefill: int, decode: int, spec: str) -> Shape:
    roles = {
        **_role("prefill", workers, prefill, is_parallel=False),
        **_role("decode", 1, decode, is_parallel=True),
    }
    deployment = Deployment(multinode=True, disagg=True, **roles, spec_method=spec)
    return Shape(deployment, workers * prefill, decode)


def _role(name: str, workers: int, tp: int, *, is_parallel: bool) -> dict[str, Any]:
    sizes = {"tp": tp, "pp": 1, "dcp": 1, "pcp": 1, "ep": tp if is_parallel else 1}
    return {
        f"{name}_workers": workers,
        **{f"{name}_{size}": value for size, value in sizes.items()},
        f"{name}_dp_attention": is_parallel,
    }
