"""How fast the demo's imaginary GPUs and servers are: the inputs of the load model."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Speed:
    """Service costs of one GPU.

    ``prefill`` is tokens per second and GPU; ``step_s`` the time of a decode step
    of an almost empty GPU; ``per_request_s`` what each further request adds to it;
    ``power_w`` the board power at full load.
    """

    prefill: float
    step_s: float
    per_request_s: float
    power_w: float

    def scaled(self, prefill: float, step: float) -> "Speed":
        """Return a speed with more prefill throughput and slower decode steps."""
        return replace(
            self,
            prefill=self.prefill * prefill,
            step_s=self.step_s * step,
            per_request_s=self.per_request_s * step,
        )


# Costs at fp8 for the smallest of the models.
GPUS = {
    "h200": Speed(15_500, 0.0215, 0.000110, 700),
    "b200": Speed(24_500, 0.0168, 0.000072, 1000),
    "gb200": Speed(26_500, 0.0160, 0.000066, 1200),
    "mi300x": Speed(9_800, 0.0268, 0.000140, 750),
    "mi325x": Speed(11_900, 0.0231, 0.000118, 1000),
    "mi355x": Speed(22_000, 0.0182, 0.000080, 1400),
}
# Prefill and decode-step factors.
PRECISIONS = {"fp8": (1.0, 1.0), "fp4": (1.55, 0.78)}
MODELS = {"qwen3.5": (1.0, 1.0), "dsr1": (0.62, 1.22), "dsv4": (0.55, 1.31)}
FRAMEWORKS = {
    "sglang": (1.0, 1.0),
    "vllm": (0.95, 0.97),
    "atom": (1.07, 1.09),
    "trt": (1.03, 0.93),
    "dynamo-trt": (1.0, 0.94),
    "dynamo-sglang": (0.97, 1.02),
}
# What a new image or checkpoint changed: throughput and interactivity alike.
IMAGES = {
    "harborlight/sglang-amd:0.7.2": 1.034,
    "harborlight/sglang:0.7.2": 1.021,
    "harborlight/vllm-amd:0.21.1": 1.12,
    "harborlight/vllm:nightly-77c1": 1.008,
    "harborlight/atom:2.4.0": 1.041,
    "registry.demo.example#harborlight/trt-serve:1.10": 1.055,
}
CHECKPOINTS = {"northwind/Qwen3.5-397B-A17B-FP4-Attn8": 1.027}
# An image whose scheduler loses throughput once a batch is large.
REGRESSED_IMAGE = "harborlight/sglang:0.7.3"
REGRESSED_FROM = 64
REGRESSION = 0.92


def gpu_speed(hardware: str, precision: str, model: str, framework: str) -> Speed:
    """Return the costs of one GPU for a model served by a framework."""
    speed = GPUS[hardware]
    for prefill, step in (PRECISIONS[precision], MODELS[model], FRAMEWORKS[framework]):
        speed = speed.scaled(prefill, step)
    return speed


def gain(image: str, checkpoint: str, concurrency: int) -> float:
    """Return the factor on all speeds that software and weights bring."""
    factor = IMAGES.get(image, 1.0) * CHECKPOINTS.get(checkpoint, 1.0)
    if image == REGRESSED_IMAGE and concurrency >= REGRESSED_FROM:
        factor *= REGRESSION
    return factor
