"""Ways to measure a cell without the cache, given its target and workload. Pure functions."""

from dataclasses import dataclass
from typing import Final

from iotide_server.advice.scene import SceneCell, ScenePoint, listed
from iotide_wire.expressions import MEMORY_FACTOR
from iotide_wire.units import GIB, format_bytes

_SPACE_MARGIN: Final = 1.1  # free space for a run beyond its files
_REFUSED: Final = "NO_DIRECT"


@dataclass(frozen=True, slots=True)
class PastCache:
    words: str
    commands: tuple[str, ...]


def past_cache(point: ScenePoint, memory_bytes: int | None) -> PastCache:
    cell, ways, commands = point.cell, [], []
    if memory_bytes is None or _has_room(cell, memory_bytes):
        ways.append("Measure with files of at least twice the memory")
        if "file_size_bytes" in cell.options:
            size = f"{size_beyond_memory(memory_bytes, point) // GIB} GiB" if memory_bytes else "auto"
            commands.append(f"file_size_bytes: {size}")
    direct = _direct_option(cell)
    if _REFUSED not in point.flags and direct:
        ways.append("bypass the cache with O_DIRECT" if ways else "Bypass the cache with O_DIRECT")
        commands.append(direct)
    if not ways:
        return PastCache(
            f"The cache cannot be avoided on {listed(cell.targets)}: files of twice the memory do not fit, and O_DIRECT"
            " is not available. State that memory is part of the result.",
            (),
        )
    return PastCache(f"{', or '.join(ways)}.", tuple(commands))


def size_beyond_memory(memory_bytes: int, point: ScenePoint) -> int:
    """Return the file size, in whole GiB, at which the writers move twice the memory."""
    shares = point.cell.writers * len(point.cell.targets) * GIB
    return -(-MEMORY_FACTOR * memory_bytes // shares) * GIB


def room_words(cell: SceneCell) -> str:
    return "" if cell.free_bytes is None else f" {listed(cell.targets)} has {format_bytes(cell.free_bytes)} free."


def _has_room(cell: SceneCell, memory_bytes: int) -> bool:
    needed = MEMORY_FACTOR * memory_bytes / len(cell.targets) * _SPACE_MARGIN
    return cell.free_bytes is None or needed <= cell.free_bytes


def _direct_option(cell: SceneCell) -> str | None:
    if "flush" in cell.options:
        return "flush: direct"
    return "direct: true" if "direct" in cell.options and not cell.options.get("job_file") else None
