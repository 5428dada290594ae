"""Expected duration of a run, from earlier runs on its target."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

IDLE_SAMPLE_SECONDS: Final = 5.0
"""Length of an agent's idle sample: before each run with `quiet: wait` or `refuse`, else once a minute."""
_SAMPLED_EVERY_SECONDS: Final = 60.0
_SHORTEST_GAP_SECONDS: Final = 1.0  # shorter gaps do not shorten a sample


@dataclass(frozen=True, slots=True)
class PastCell:
    options_sha256: str
    # node_count, target_count: used together
    node_count: int
    target_count: int
    bytes_moved: float  # over all targets and nodes, as planned
    seconds: float  # median duration of its benchmarks
    is_one_program: bool = False  # over all nodes; else each node starts its own


@dataclass(frozen=True, slots=True)
class PlannedLoad:
    options_sha256: str | None
    node_count: int
    target_count: int
    bytes_moved: float  # `share` of all that the cell moves
    share: float
    run_seconds: float
    is_one_program: bool = False


def load_seconds(wanted: PlannedLoad, past: Sequence[PastCell], rate_bytes_per_second: float | None) -> float | None:
    """Return the duration of the benchmark, or None if unknown.

    A measured cell takes as long as before. Another size takes its bytes at the last rate, plus the newest cell's
    overhead (start, flush, emptying caches). Without a rate, the newest cell's time per byte counts.

    Args:
        past: newest first.
        rate_bytes_per_second: of the target's newest cell.
    """
    own = wanted.node_count, wanted.target_count, wanted.is_one_program
    alike = [cell for cell in past if (cell.node_count, cell.target_count, cell.is_one_program) == own]
    same = next((cell for cell in alike if cell.options_sha256 == wanted.options_sha256), None)
    if same is not None:
        return same.seconds
    if wanted.run_seconds:
        return wanted.run_seconds
    newest = next(iter(alike or past), None)
    past_bytes = newest.bytes_moved * wanted.share if newest else 0.0
    if wanted.bytes_moved and rate_bytes_per_second:
        overhead_seconds = max(0.0, newest.seconds - past_bytes / rate_bytes_per_second) if newest else 0.0
        return overhead_seconds + wanted.bytes_moved / rate_bytes_per_second
    if newest is None:
        return None
    return newest.seconds * wanted.bytes_moved / past_bytes if past_bytes and wanted.bytes_moved else newest.seconds


def idle_sample_seconds(busy_seconds: float, gap_ratio: float, gap_seconds: float, *, was_loaded: bool) -> float:
    """Return the total time that runs with `quiet: flag` wait for idle samples of their node.

    An idle node already has its first sample. Each minute of successive runs needs another one, less the gaps.

    Args:
        busy_seconds: runs including the gaps between them.
        gap_ratio: share of the gaps in that.
        gap_seconds: one gap.
        was_loaded: the node had a run in the last minute.
    """
    given = gap_ratio * _SAMPLED_EVERY_SECONDS if gap_seconds >= _SHORTEST_GAP_SECONDS else 0.0
    samples = busy_seconds // _SAMPLED_EVERY_SECONDS + was_loaded
    return samples * max(0.0, IDLE_SAMPLE_SECONDS - given)
