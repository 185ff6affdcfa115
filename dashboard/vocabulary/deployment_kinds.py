"""The kinds of deployment that filters name, and their words on pages."""

KINDS = {
    "single": "single node",
    "multinode": "multinode, aggregated",
    "disaggregated": "disaggregated",
}
OFFLOADS = {"with": "with KV offload", "without": "without KV offload"}
