"""What the official chart's metrics and x axes are called here."""

import re

from dashboard.vocabulary.metrics import METRICS

# Its y metrics, without their ``y_``.
OFFICIAL = {
    "tpPerGpu": "tput_per_gpu",
    "inputTputPerGpu": "input_tput_per_gpu",
    "outputTputPerGpu": "output_tput_per_gpu",
    "tpPerMw": "tput_per_mw",
    "inputTputPerMw": "input_tput_per_mw",
    "outputTputPerMw": "output_tput_per_mw",
    "costh": "cost_total_hyperscaler",
    "costn": "cost_total_neocloud",
    "costr": "cost_total_rental",
    "costhOutput": "cost_output_hyperscaler",
    "costnOutput": "cost_output_neocloud",
    "costrOutput": "cost_output_rental",
    "costhi": "cost_input_hyperscaler",
    "costni": "cost_input_neocloud",
    "costri": "cost_input_rental",
    "costUser": "cost_total_custom",
    "powerUser": "tput_per_mw_custom",
    "jTotal": "provisioned_joules_per_total_token",
    "jOutput": "provisioned_joules_per_output_token",
    "jInput": "provisioned_joules_per_input_token",
    "measuredAvgPower": "avg_power_w",
    "measuredPrefillAvgPower": "prefill_avg_power_w",
    "measuredDecodeAvgPower": "decode_avg_power_w",
    "measuredJPerTotalToken": "joules_per_total_token",
    "measuredJPerOutputToken": "joules_per_output_token",
    "measuredJPerInputToken": "joules_per_input_token",
    "measuredJPerSuccessfulQuery": "joules_per_successful_query",
    "measuredWhPerSuccessfulQuery": "watt_hours_per_successful_query",
    # Of newer charts.
    "measuredPrefillJPerInputToken": "prefill_joules_per_input_token",
    "measuredDecodeJPerOutputToken": "decode_joules_per_output_token",
    "measuredPowerPercentTdp": "avg_power_tdp_share",
}
_BY_PLAIN = {name.lower(): metric for name, metric in OFFICIAL.items()}
# Its x axes, by the quantity whose statistic the scenario chooses.
X_MODES = {
    "interactivity": "intvty",
    "e2e": "e2el",
    "ttft": "ttft",
    "normalizede2e": "e2e_norm_intvty",
    "e2enormalized": "e2e_norm_intvty",
    "e2enormintvty": "e2e_norm_intvty",
}
_STATISTICS = r"(mean|median|p50|p75|p90|p95|p999|p99)"
_SAME_STATISTIC = {"p50": "median", "p999": "p99.9"}
# Spellings of a quantity, without punctuation, and its name without a statistic.
_TIMES = {
    "ttft": "ttft",
    "timetofirsttoken": "ttft",
    "tpot": "tpot",
    "itl": "itl",
    "e2e": "e2el",
    "e2el": "e2el",
    "latency": "e2el",
    "intvty": "intvty",
    "interactivity": "intvty",
}
_RATES = {
    "tpgpu": "tput_per_gpu",
    "tputpergpu": "tput_per_gpu",
    "totaltputpergpu": "tput_per_gpu",
    "throughputpergpu": "tput_per_gpu",
    "outputtppergpu": "output_tput_per_gpu",
    "outputthroughputpergpu": "output_tput_per_gpu",
    "inputtppergpu": "input_tput_per_gpu",
    "inputthroughputpergpu": "input_tput_per_gpu",
}


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


_OWN = {_plain(name): name for name in METRICS}


def metric_of(value: str) -> str:
    """Return the metric that a key such as ``y_tpPerGpu`` or ``p90_ttft`` means.

    Empty where it means none.
    """
    plain = _plain(re.sub(r"^[xy]_", "", value.lower()))
    for known in (_OWN, _BY_PLAIN, _RATES):
        if plain in known:
            return known[plain]
    parts = re.fullmatch(f"{_STATISTICS}?([a-z0-9]+?)", plain)
    if not parts or parts[2] not in _TIMES:
        return ""
    statistic = _SAME_STATISTIC.get(parts[1], parts[1] or "median")
    return f"{statistic}_{_TIMES[parts[2]]}"


def x_metric_of(value: str) -> str:
    """Return the metric of an x axis; of a mode, its median."""
    quantity = X_MODES.get(_plain(value))
    return f"median_{quantity}" if quantity else metric_of(value)


def is_x_mode(value: str) -> bool:
    """Tell whether an x axis leaves its statistic to the scenario."""
    return _plain(value) in X_MODES


def statistic_of(value: str) -> str:
    """Return the statistic that a percentile such as ``P90`` means, empty if none."""
    found = re.fullmatch(_STATISTICS, _plain(value))
    return _SAME_STATISTIC.get(found[1], found[1]) if found else ""
