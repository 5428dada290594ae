from datetime import UTC, datetime, timedelta

import pytest

from iotide_server.results.ingest.race import Racer, race_flags

NOON = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


def racer(name: str, late_seconds: float = 0.0, seconds: float = 100.0) -> Racer:
    return Racer(name, NOON + timedelta(seconds=late_seconds), seconds)


def test_nodes_that_loaded_together_bear_no_flag() -> None:
    assert race_flags([racer("n1"), racer("n2", 0.02, 104.0), racer("n3", 0.9, 149.0)]) == []


def test_a_start_later_than_a_hundredth_of_the_shortest_load_is_marked() -> None:
    (flag,) = race_flags([racer("n1", 1.2), racer("n2"), racer("n3", 0.1)])
    assert (flag.code, flag.effect) == ("LATE_START", "marked")
    assert flag.measured == "n1 started 1.2 s after n2"


@pytest.mark.parametrize(("late_seconds", "count"), [(0.09, 0), (0.11, 1)])
def test_short_loads_may_start_a_tenth_of_a_second_apart(late_seconds: float, count: int) -> None:
    assert len(race_flags([racer("n1", seconds=0.5), racer("n2", late_seconds, seconds=0.5)])) == count


def test_a_node_that_took_half_as_long_again_as_the_others_is_named() -> None:
    (flag,) = race_flags([racer("n1"), racer("n2", seconds=151.0), racer("n3", seconds=98.0)])
    assert (flag.code, flag.effect) == ("STRAGGLER", "marked")
    assert flag.measured == "n2 took 151 s, the others 99 s"


def test_the_slower_of_two_nodes_is_compared_with_the_other() -> None:
    assert race_flags([racer("n1"), racer("n2", seconds=149.0)]) == []
    assert [flag.code for flag in race_flags([racer("n1"), racer("n2", seconds=151.0)])] == ["STRAGGLER"]
