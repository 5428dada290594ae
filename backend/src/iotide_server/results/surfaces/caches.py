"""Cliffs of a surface as sentences, with possible causes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from iotide_server.results.surfaces.schemas import CacheSize, SurfaceCell, SurfaceCliffOutput
from iotide_server.statistics import cliffs
from iotide_server.statistics.summary import Ratio
from iotide_wire.expressions import MEMORY
from iotide_wire.units import format_bytes, format_percent

SizeAxis = Literal["file_size", "record_size"]
_TITLES: Final[Mapping[SizeAxis, str]] = {"file_size": "file size", "record_size": "record size"}
_DIRTY_BYTES: Final = "cache.dirty_bytes"
_DIRTY_PERCENT: Final = "cache.dirty_percent"
_TRANSFER_FACTS: Final = ("device.max_io_bytes", "nfs.rsize_bytes", "nfs.wsize_bytes", "md.stripe_width_bytes")

_Cells = Sequence[Sequence[SurfaceCell | None]]


def caches_of(facts: Mapping[str, Any], nodes: Sequence[str], *, is_write: bool, is_direct: bool) -> list[CacheSize]:
    """Return the memories that files may exceed. With O_DIRECT there are none."""
    memory = positive(facts.get(MEMORY))
    percent = positive(facts.get(_DIRTY_PERCENT))
    where = ", ".join(nodes)
    if is_direct:
        return []
    found = [CacheSize(name=f"{MEMORY} of {where}", size_bytes=memory)] if memory else []
    if is_write and (dirty := positive(facts.get(_DIRTY_BYTES))):
        found.append(CacheSize(name=f"{_DIRTY_BYTES} of {where}", size_bytes=dirty))
    elif is_write and memory and percent:
        name = f"{_DIRTY_PERCENT} of the memory of {where}"
        found.append(CacheSize(name=name, size_bytes=memory * percent // 100))
    return found


def limits_of(facts: Mapping[str, Any]) -> list[CacheSize]:
    sizes = {name: positive(facts.get(name)) for name in _TRANSFER_FACTS}
    return [CacheSize(name=name, size_bytes=size) for name, size in sizes.items() if size]


def cliffs_of(
    cells: _Cells, sizes: Mapping[SizeAxis, Sequence[int]], suiting: Mapping[SizeAxis, Sequence[CacheSize]]
) -> list[SurfaceCliffOutput]:
    columns = [list(column) for column in zip(*cells, strict=True)]
    along_files = _cliffs_along("file_size", columns, sizes["file_size"], sizes["record_size"], suiting["file_size"])
    along_records = _cliffs_along(
        "record_size", cells, sizes["record_size"], sizes["file_size"], suiting["record_size"]
    )
    return [*along_files, *along_records]


def _cliffs_along(
    axis: SizeAxis, sweeps: _Cells, along: Sequence[int], across: Sequence[int], caches: Sequence[CacheSize]
) -> Iterator[SurfaceCliffOutput]:
    for cliff in cliffs.surface_cliffs(sweeps):
        last, first = along[cliff.last], along[cliff.first]
        suits = [
            f"{cache.name} ({format_bytes(cache.size_bytes)})"
            for cache in caches
            if cliffs.suits(cache.size_bytes, last, first)
        ]
        other: SizeAxis = "record_size" if axis == "file_size" else "file_size"
        where = f"at {len(cliff.sweeps)} of {cliff.of} {_TITLES[other]}s"
        ends = f"between {_TITLES[axis]}s of {format_bytes(last)} and {format_bytes(first)}"
        yield SurfaceCliffOutput(
            axis=axis,
            last_bytes=last,
            first_bytes=first,
            at_bytes=[across[number] for number in cliff.sweeps],
            of=cliff.of,
            fall_ratio=cliff.fall.median,
            low=cliff.fall.low,
            high=cliff.fall.high,
            suits=suits,
            words=(
                f"Drop {ends}: to {format_percent(cliff.fall.median)} ({_sureness(cliff.fall)}) {where}."
                + (f" Possible cause: {' or '.join(suits)}." if suits else "")
            ),
        )


def _sureness(fall: Ratio) -> str:
    if fall.low is None or fall.high is None:
        return "fewer than 4 runs per size"
    return f"{format_percent(fall.low)} to {format_percent(fall.high)}"


def positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
