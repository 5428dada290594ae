from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from iotide_server.schedules.failing import (
    MOST_FIRINGS,
    FailedRun,
    FailingSchedule,
    FiringResult,
    names,
    reason_of,
    streak,
)

SUNDAY = datetime(2026, 11, 22, 4, 0, tzinfo=UTC)
WEEK = timedelta(days=7)


def outcomes(kinds: Sequence[str]) -> list[FiringResult]:
    """Make one firing a week, newest first: `f`ailed, `p`artly failed, `x` with a problem, `v`alid, `c`ancelled."""
    cells = {"f": (2, 0), "p": (1, 1), "x": (0, 0), "v": (0, 2), "c": (0, 0)}
    return [
        FiringResult(
            schedule_id=1,
            cluster_id=1,
            name="weekly",
            fired_at=SUNDAY - number * WEEK,
            campaign_id=None if kind == "x" else number,
            problem="there is no node n1" if kind == "x" else None,
            cells=2,
            failed_cells=cells[kind][0],
            valid_cells=cells[kind][1],
        )
        for number, kind in enumerate(kinds)
    ]


LOST = FailedRun("wrong_mount", "/home is root", 2, "c02", 3, "home", "/home", nodes=1, targets=1)
OTHER = replace(LOST, reason_code="error", words="dd ended with 1")


@pytest.mark.parametrize(
    ("kinds", "count", "weeks"),
    [
        ("v", 0, 0),
        ("vff", 0, 0),
        ("fv", 1, 0),
        ("ffff", 4, 3),
        ("fpxfvf", 4, 3),
        ("cffcv", 2, 2),
        ("c", 0, 0),
        ("", 0, 0),
    ],
)
def test_a_streak_ends_at_the_first_firing_that_succeeded_and_cancelled_ones_do_not_count(
    kinds: str, count: int, weeks: int
) -> None:
    found = streak(outcomes(kinds))
    if count == 0:
        assert found is None
    else:
        assert found is not None
        assert (found.count, found.since) == (count, SUNDAY - weeks * WEEK)


def test_the_reason_is_that_of_most_runs_and_names_all_nodes_that_lost_a_mount() -> None:
    (partly,) = outcomes("p")
    lost = [LOST, replace(LOST, reason_code="target_missing", node_id=3, node_name="c03")]
    assert reason_of(partly, [OTHER, *lost]) == "/home is not mounted on c02, c03 (1 of 2 configurations)"
    (failed,) = outcomes("f")
    assert reason_of(failed, [OTHER, OTHER, LOST]) == "dd ended with 1"
    assert reason_of(failed, []) == "no run was valid"
    (problem,) = outcomes("x")
    assert reason_of(problem, []) == "there is no node n1"


def test_the_target_named_by_the_reason_was_lost_and_no_node_of_several() -> None:
    (failed,) = outcomes("f")
    home = replace(LOST, targets=2)
    assert reason_of(failed, [home]) == "/home is not mounted on c02"
    assert reason_of(failed, [replace(home, path="/scratch")]) == "/home is root"
    assert reason_of(failed, [replace(LOST, nodes=2)]) == "/home is root"


def test_the_text_shows_how_often_since_when_and_why() -> None:
    found = streak(outcomes("ffff"))
    assert found is not None
    words = "weekly failed 4 times in a row since 1 Nov 2026: disk full"
    assert FailingSchedule(1, 1, "weekly", found, "disk full").words == words
    longest = streak(outcomes("f" * MOST_FIRINGS))
    assert longest is not None
    assert "failed 20 or more times" in FailingSchedule(1, 1, "weekly", longest, "disk full").words


def test_only_the_first_three_of_many_names_are_shown() -> None:
    assert names({"c03", "c01"}) == "c01, c03"
    assert names({f"c{number}" for number in range(8)}) == "c0, c1, c2 and 5 more"
