"""Measured official evals as JSON text in the official shape, many of them at once."""

from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any, NamedTuple

import orjson
from django.db.models import F

from dashboard.models import Artifact, ConfigKey, Deployment, EvalResult, Run
from dashboard.queries.published_points import config
from dashboard.queries.published_shapes import second_of
from dashboard.vocabulary import provenance

_SCORES = {
    "em_strict": "strict",
    "em_strict_se": "strict_se",
    "em_flexible": "flexible",
    "em_flexible_se": "flexible_se",
    "score": "score",
    "n_eff": "n",
}
_FIELDS = (
    *("pk", "run_id", "config_key_id", "deployment_id", "task", "concurrency"),
    *("measured", *_SCORES.values()),
)
Config = tuple[int, int]  # ids of config key and deployment
Row = tuple[Any, ...]  # the values of _FIELDS


class _Run(NamedTuple):
    """What the evals of a run say of it: parts of their JSON."""

    day: str
    second: str
    url: str


def measured_evals() -> Iterator[str]:
    """Yield the evals that were not published, oldest run first.

    Their ids, and those of their configurations, are below zero: the official dashboard
    never gave them any.
    """
    runs, by_run = _runs(), _rows_by_run()
    told = [row for run_id in runs for row in by_run.get(run_id, ())]
    heads = _heads(
        {(key_id, deployment_id) for _, _, key_id, deployment_id, *_ in told}
    )
    for pk, run_id, key_id, deployment_id, task, concurrency, at, *scores in told:
        run = runs[run_id]
        metrics = {
            name: score
            for name, score in zip(_SCORES, scores, strict=True)
            if score is not None
        }
        scored = {"task": task, "conc": concurrency, "metrics": metrics}
        yield (
            f'{{"id":"-{pk}",{heads[key_id, deployment_id]},'
            f"{orjson.dumps(scored)[1:-1].decode()},{run.day},"
            f'"timestamp":"{at or run.second}",{run.url}}}'
        )


def _runs() -> Mapping[int, _Run]:
    """Return the official runs by id, the oldest first."""
    official = Run.objects.filter(publication=Run.Publication.OFFICIAL)
    rows = official.order_by("created_at", "pk").values_list(
        "pk", "published_at", "created_at", "url"
    )
    found = {}
    for pk, published, created, url in rows:
        at = (published or created).astimezone(UTC)
        found[pk] = _Run(
            f'"date":"{at.date().isoformat()}"',
            f"{at:%Y-%m-%dT%H:%M:%SZ}",
            f'"run_url":{orjson.dumps(url).decode()}',
        )
    return found


def _rows_by_run() -> Mapping[int, list[Row]]:
    """Return the evals that count and that no published record tells, by their ids."""
    came = Artifact.objects.filter(kind=provenance.PUBLISHED)
    found = EvalResult.objects.filter(is_current=True)
    if came.exists():
        published = found.filter(raw_record__artifact__in=came)
        found = found.exclude(pk__in=published.values("pk"))
    rows = found.annotate(measured=second_of(F("measured_at"))).order_by("pk")
    by_run: dict[int, list[Row]] = {}
    for row in rows.values_list(*_FIELDS):
        by_run.setdefault(row[1], []).append(row)
    return by_run


def _heads(configs: set[Config]) -> Mapping[Config, str]:
    """Return what of a row its configuration says, with an id of it."""
    keys, deployments = ConfigKey.objects.in_bulk(), Deployment.objects.in_bulk()
    heads = {}
    for number, (key_id, deployment_id) in enumerate(sorted(configs), start=1):
        deployment = deployments[deployment_id]
        prefill, decode = _gpus(deployment)
        fields = {
            "config_id": -number,
            **config(keys[key_id], deployment),
            "num_prefill_gpu": prefill,
            "num_decode_gpu": decode,
        }
        heads[key_id, deployment_id] = orjson.dumps(fields).decode()[1:-1]
    return heads


def _gpus(deployment: Deployment) -> tuple[int | None, int | None]:
    """Return what the sizes of an eval make; None where they do not say."""
    d = deployment
    if d.multinode:
        prefill = _product(d.prefill_workers, d.prefill_tp, d.prefill_pp, d.prefill_pcp)
        decode = _product(d.decode_workers, d.decode_tp, d.decode_pp, d.decode_pcp)
        return prefill, decode
    node = _product(d.tp, d.pp, d.pcp)
    is_told = node is not None and d.ep is not None and d.ep <= node
    return (node, node) if is_told else (None, None)


def _product(*sizes: int | None) -> int | None:
    product = 1
    for size in sizes:
        if size is None:
            return None
        product *= size
    return product
