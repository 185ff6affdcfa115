"""Names of artifacts, files and jobs, by the grammar of the benchmark's workflows."""

from demo.recipes import Recipe, Role

SHORT_FRAMEWORKS = {
    "sglang": "sgl",
    "dynamo-sglang": "dyn-sgl",
    "sglang-disagg": "sgl-disagg",
}


def result_name(recipe: Recipe, runner: str) -> str:
    """Return the name that ties all artifacts of a job together."""
    concurrencies = "x".join(map(str, recipe.concurrencies))
    parts = [
        recipe.exp_name,
        recipe.precision,
        recipe.framework,
        _topology(recipe),
        f"disagg-{_flag(value=recipe.disagg)}",
        f"spec-{recipe.spec}",
        f"conc{concurrencies}",
        runner,
    ]
    if recipe.fingerprint:
        parts.append(f"recipe-{recipe.fingerprint[:16]}")
    return "_".join(parts)


def row_artifact(recipe: Recipe, runner: str) -> str:
    """Return the name of the artifact that holds the rows of a job."""
    kind = "bmk" if recipe.lengths else "bmk_agentic"
    return f"{kind}_{result_name(recipe, runner)}"


def row_file(recipe: Recipe, runner: str, concurrency: int) -> str:
    """Return the file name of one row."""
    name = result_name(recipe, runner)
    if recipe.lengths is None:
        return f"{name}.json"
    if not recipe.multinode:
        return f"agg_{name}.json"
    tail = f"demo_conc{concurrency}_gpus_{recipe.gpus}"
    prefill, decode = recipe.roles
    if decode.workers:
        tail += f"_ctx_{prefill.gpus}_gen_{decode.gpus}"
    return f"agg_{name}_{tail}.json"


def eval_artifact(recipe: Recipe, runner: str) -> str:
    """Return the name of an eval artifact; on a single node it repeats its start."""
    name = result_name(recipe, runner)
    return f"eval_{name}" if recipe.multinode else f"eval_{recipe.exp_name}_{name}"


def log_artifact(recipe: Recipe, runner: str) -> str:
    """Return the name of the server's log artifact."""
    kind = "multinode_server_logs" if recipe.multinode else "server_logs"
    return f"{kind}_{result_name(recipe, runner)}"


def job_name(recipe: Recipe, caller: str, priority: float) -> str:
    """Return the display name of a benchmark job, empty fields included."""
    offload = f"{recipe.offloading} KV offload" if recipe.backend else ""
    framework = SHORT_FRAMEWORKS.get(recipe.framework, recipe.framework)
    spec = "" if recipe.spec == "none" else recipe.spec
    fields = [
        recipe.model,
        recipe.precision,
        recipe.label,
        framework,
        _shown_topology(recipe),
        spec,
        offload,
        recipe.backend or "",
        "c" + "x".join(map(str, recipe.concurrencies)),
    ]
    return f"{caller} / / p{priority:.3f} | {' '.join(fields)}"


def caller(recipe: Recipe, *, evaluates: bool = False) -> str:
    """Return the name of the workflow job that calls a benchmark job."""
    nodes = "multi-node" if recipe.multinode else ""
    if evaluates or recipe.lengths is None:
        kind = "eval" if recipe.lengths else "agentic" + " eval" * evaluates
        return f"{nodes} {kind}".strip()
    isl, osl = (length // 1024 for length in recipe.lengths)
    return f"{nodes or 'single-node'} {isl}k{osl}k"


def _topology(recipe: Recipe) -> str:
    if not recipe.multinode:
        role = recipe.roles[0]
        return f"{_sizes(role)}-dpa{_flag(value=role.dp_attention)}"
    named = zip(("prefill", "decode"), recipe.roles, strict=True)
    return "_".join(f"{name}-{_worker_sizes(role)}" for name, role in named)


def _worker_sizes(role: Role) -> str:
    return f"{_sizes(role)}-dp{_flag(value=role.dp_attention)}-nw{role.workers}"


def _sizes(role: Role) -> str:
    return f"tp{role.tp}-pp{role.pp}-dcp{role.dcp}-pcp{role.pcp}-ep{role.ep}"


def _shown_topology(recipe: Recipe) -> str:
    shown = [_shown_sizes(role) for role in recipe.roles]
    if not recipe.multinode:
        return shown[0]
    prefill, decode = recipe.roles
    return f"{prefill.workers}P ({shown[0]}) x {decode.workers}D ({shown[1]})"


def _shown_sizes(role: Role) -> str:
    named = (("PP", role.pp), ("DCP", role.dcp), ("PCP", role.pcp), ("EP", role.ep))
    parts = [f"TP{role.tp}", *(f"{name}{size}" for name, size in named if size > 1)]
    return "/".join(parts + ["DPA"] * role.dp_attention)


def _flag(*, value: bool) -> str:
    return str(value).lower()
