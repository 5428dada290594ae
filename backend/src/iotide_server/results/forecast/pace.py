"""How long one run of a planned cell will load its target, by what the target did before; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

IDLE_SAMPLE_SECONDS: Final = 5.0
"""How long an agent watches its idle node: before each run whose policy waits for a quiet node or refuses a busy one,
and once a minute for runs whose policy only marks them."""
_SAMPLED_EVERY_SECONDS: Final = 60.0
_SHORTEST_GAP_SECONDS: Final = 1.0  # a shorter gap between two runs adds nothing to a sample


@dataclass(frozen=True, slots=True)
class PastCell:
    """A cell of the same workload on the same target whose runs have finished."""

    options_sha256: str  # of the options that differ from the frozen defaults
    # node_count, target_count: how many loaded, and were loaded, together
    node_count: int
    target_count: int
    bytes_moved: float  # on all targets from all nodes, as foreseen when it was submitted
    seconds: float  # the median of its runs, from the start of the load to its end


@dataclass(frozen=True, slots=True)
class PlannedLoad:
    """One file system of a planned cell."""

    options_sha256: str | None  # None where no cell with these options was measured
    node_count: int
    target_count: int
    bytes_moved: float  # in this file system alone, `share` of all that the cell moves
    share: float
    run_seconds: float  # where the options say how long a run lasts, else 0


def load_seconds(wanted: PlannedLoad, past: Sequence[PastCell], rate_bytes_per_second: float | None) -> float | None:
    """Return the seconds from the start of the load to its end, or None where nothing tells them.

    The same cell takes as long as before. Another size takes its bytes at the last rate, and besides as long as the
    newest cell took beyond its own bytes: for the start of the tool, for flushes and for emptying the cache. Without a
    rate, a cell takes as long per byte as the newest one.

    Args:
        past: the newest first.
        rate_bytes_per_second: of the target, while its newest cell moved data.
    """
    alike = [cell for cell in past if (cell.node_count, cell.target_count) == (wanted.node_count, wanted.target_count)]
    same = next((cell for cell in alike if cell.options_sha256 == wanted.options_sha256), None)
    if same is not None:
        return same.seconds
    if wanted.run_seconds:
        return wanted.run_seconds
    newest = next(iter(alike or past), None)
    past_bytes = newest.bytes_moved * wanted.share if newest else 0.0
    if wanted.bytes_moved and rate_bytes_per_second:
        besides = max(0.0, newest.seconds - past_bytes / rate_bytes_per_second) if newest else 0.0
        return besides + wanted.bytes_moved / rate_bytes_per_second
    if newest is None:
        return None
    return newest.seconds * wanted.bytes_moved / past_bytes if past_bytes and wanted.bytes_moved else newest.seconds


def idle_sample_seconds(busy_seconds: float, gap_ratio: float, gap_seconds: float, *, was_loaded: bool) -> float:
    """Return how long runs with `quiet: flag` wait for idle samples of their node in all.

    A node that did nothing for a while has its first sample. In each minute of runs one after another it needs another
    one, less the seconds that the gaps between them gave.

    Args:
        busy_seconds: the runs with the gaps between them.
        gap_ratio: the share of the gaps in that.
        gap_seconds: one gap.
        was_loaded: a run of ours was on the node in the last minute.
    """
    given = gap_ratio * _SAMPLED_EVERY_SECONDS if gap_seconds >= _SHORTEST_GAP_SECONDS else 0.0
    samples = busy_seconds // _SAMPLED_EVERY_SECONDS + was_loaded
    return samples * max(0.0, IDLE_SAMPLE_SECONDS - given)
