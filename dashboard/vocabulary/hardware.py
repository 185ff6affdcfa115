"""The GPUs that results may name: label, vendor, architecture, order, TDP."""

from typing import NamedTuple


class Hardware(NamedTuple):
    """One GPU product; ``order`` sorts newest and fastest first.

    ``tdp_w`` is the design power of one GPU, in W.
    """

    name: str
    label: str
    vendor: str
    architecture: str
    order: int
    tdp_w: int


_ALL = (
    Hardware("gb300", "GB300 NVL72", "NVIDIA", "Blackwell", 0, 1400),
    Hardware("gb200", "GB200 NVL72", "NVIDIA", "Blackwell", 1, 1200),
    Hardware("b300", "B300", "NVIDIA", "Blackwell", 2, 1200),
    Hardware("b200", "B200", "NVIDIA", "Blackwell", 3, 1000),
    Hardware("mi355x", "MI355X", "AMD", "CDNA 4", 4, 1400),
    Hardware("h200", "H200", "NVIDIA", "Hopper", 5, 700),
    Hardware("mi325x", "MI325X", "AMD", "CDNA 3", 6, 1000),
    Hardware("h100", "H100", "NVIDIA", "Hopper", 7, 700),
    Hardware("mi300x", "MI300X", "AMD", "CDNA 3", 8, 750),
    Hardware("rtx6000pro", "RTX PRO 6000", "NVIDIA", "Blackwell", 9, 600),
    Hardware("rtx5090", "RTX 5090", "NVIDIA", "Blackwell consumer", 10, 575),
)

HARDWARE = {hardware.name: hardware for hardware in _ALL}


def hardware_label(name: str) -> str:
    """Return the label of a GPU, or its upper-cased name where it is not known."""
    known = HARDWARE.get(name)
    return known.label if known else name.upper()


def hardware_order(name: str) -> tuple[int, str]:
    """Return a sort key; unknown GPUs come last, by name."""
    known = HARDWARE.get(name)
    return (known.order if known else len(_ALL), name)


def vendor_of(name: str) -> str:
    """Return who makes a GPU, or an empty text where it is not known."""
    known = HARDWARE.get(name)
    return known.vendor if known else ""
