"""Tables of ranks as IOR and mdtest print them, from given seconds."""

from collections.abc import Mapping, Sequence
from typing import Final

IOR_HEADING: Final = "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput"
MDTEST_NAMES: Final = (
    *("Directory creation", "Directory stat", "Directory read", "Directory rename", "Directory removal"),
    *("File creation", "File stat", "File read", "File removal", "Tree creation", "Tree removal"),
)
_OF_TREES: Final = 2


def ior_table(access: str, total_bytes: float, seconds: Sequence[float], opened_seconds: float = 0.001) -> str:
    """Return the table of ranks that took `seconds` with open and close; IOR divides the bytes evenly."""
    own = total_bytes / len(seconds)
    rows = [IOR_HEADING]
    for rank, whole in enumerate(seconds):
        transfer = whole - opened_seconds
        rows.append(f"{access},{rank},{whole:.10e},{transfer:.10e},{own / whole:.10e},{own / transfer:.10e}")
    return "\n".join([*rows, ""])


def mdtest_table(
    items: int, seconds: Mapping[str, Sequence[float]], total_seconds: Mapping[str, float] | None = None
) -> str:
    """Return the table of ranks with `items` each; the total waits for the slowest rank unless it is given."""
    heading = "rank,items" + "".join(f",rate-{name},time-{name}" for name in MDTEST_NAMES)
    rows = [
        heading,
        f"all,{items}" + "".join(_total(items, seconds.get(name), total_seconds, name) for name in MDTEST_NAMES),
    ]
    [count] = {len(own) for own in seconds.values()}
    for rank in range(count):
        cells = [_cells(items, seconds[name][rank]) if name in seconds else ",," for name in MDTEST_NAMES[:-_OF_TREES]]
        rows.append(f"{rank},{''.join(cells)}")
    return "\n".join([*rows, ""])


def _total(items: int, own: Sequence[float] | None, totals: Mapping[str, float] | None, name: str) -> str:
    return ",," if own is None else _cells(items * len(own), (totals or {}).get(name, max(own)))


def _cells(items: int, seconds: float) -> str:
    return f",{items / seconds:.10e},{seconds:.10e}"
