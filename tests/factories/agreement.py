"""Changes that several analyses of one series agree on, counted as the server does before it raises an alert."""

from itertools import pairwise

from iotide_server.statistics.course import CONFIRMING_RUNS, SAME_RUNS, Analysis, LevelChange


def same_change(one: LevelChange, other: LevelChange) -> bool:
    """Return whether two analyses mean the same change; later runs may move it by a few points."""
    return abs(one.index - other.index) <= SAME_RUNS


def agreed(*analyses: Analysis) -> tuple[LevelChange, ...]:
    """Return the changes of the last analysis that all previous ones, of fewer runs each, had found too.

    A single analysis is not enough for an alert: its newest change may disappear with the next run.

    Raises:
        ValueError: the analyses do not grow, or the last has not CONFIRMING_RUNS more runs than the first.
    """
    counts = [analysis.run_count for analysis in analyses]
    if any(later <= earlier for earlier, later in pairwise(counts)) or counts[-1] - counts[0] < CONFIRMING_RUNS:
        raise ValueError(f"analyses of {counts} runs confirm nothing: each needs more, the last {CONFIRMING_RUNS} more")
    *earlier, last = analyses
    return tuple(
        change
        for change in last.changes
        if all(any(same_change(change, before) for before in analysis.changes) for analysis in earlier)
    )
