"""Says how the same cell can be measured without the cache: only by what its target and its workload can do; pure."""

from dataclasses import dataclass
from typing import Final

from iotide_server.advice.scene import SceneCell, ScenePoint, listed
from iotide_wire.expressions import MEMORY_FACTOR
from iotide_wire.units import GIB, format_bytes

_SPACE_MARGIN: Final = 1.1  # a run needs a tenth more than its files
_REFUSED: Final = "NO_DIRECT"


@dataclass(frozen=True, slots=True)
class PastCache:
    """What takes the cache out of the numbers, in words, and as options of a plan."""

    words: str
    commands: tuple[str, ...]


def past_cache(point: ScenePoint, memory_bytes: int | None) -> PastCache:
    """Return the ways past the cache that are open to the point's cell, on nodes with this memory at least."""
    cell, ways, commands = point.cell, [], []
    if memory_bytes is None or _has_room(cell, memory_bytes):
        ways.append("Measure with files of at least twice the memory")
        if "file_size_bytes" in cell.options:
            size = f"{size_beyond_memory(memory_bytes, point) // GIB} GiB" if memory_bytes else "auto"
            commands.append(f"file_size_bytes: {size}")
    direct = _direct_option(cell)
    if _REFUSED not in point.flags and direct:
        ways.append("go past the cache with O_DIRECT" if ways else "Go past the cache with O_DIRECT")
        commands.append(direct)
    if not ways:
        return PastCache(
            f"Neither way past the cache is open on {listed(cell.targets)}: twice the memory has no room, and O_DIRECT"
            " cannot be had. Say that memory is part of the number.",
            (),
        )
    return PastCache(f"{', or '.join(ways)}.", tuple(commands))


def size_beyond_memory(memory_bytes: int, point: ScenePoint) -> int:
    """Return the file size, in whole GiB, with which the same writers move twice the memory."""
    shares = point.cell.writers * len(point.cell.targets) * GIB
    return -(-MEMORY_FACTOR * memory_bytes // shares) * GIB


def room_words(cell: SceneCell) -> str:
    """Return what is free on the cell's targets, where that is known."""
    return "" if cell.free_bytes is None else f" {listed(cell.targets)} has {format_bytes(cell.free_bytes)} free."


def _has_room(cell: SceneCell, memory_bytes: int) -> bool:
    needed = MEMORY_FACTOR * memory_bytes / len(cell.targets) * _SPACE_MARGIN
    return cell.free_bytes is None or needed <= cell.free_bytes


def _direct_option(cell: SceneCell) -> str | None:
    """Return the option that goes past the cache, as the workload names it."""
    if "flush" in cell.options:
        return "flush: direct"
    return "direct: true" if "direct" in cell.options and not cell.options.get("job_file") else None
