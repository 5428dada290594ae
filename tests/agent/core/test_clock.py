"""Server time on the node's CLOCK_BOOTTIME, estimated from the answers with the shortest round trip."""

from datetime import UTC, datetime

import pytest

from iotide_agent.core.clock import ServerClock


def at(epoch_seconds: float) -> datetime:
    return datetime.fromtimestamp(epoch_seconds, UTC)


def test_without_an_answer_there_is_no_time_to_wait_for() -> None:
    assert ServerClock().here(at(1000.0)) is None


def test_the_quickest_answer_is_believed() -> None:
    clock = ServerClock()
    clock.learn(at(1009.0), 0.0, 4.0)
    clock.learn(at(1015.1), 10.0, 10.2)
    clock.learn(at(1020.0), 15.0, 19.0)
    assert clock.here(at(1105.0)) == pytest.approx(100.0)


def test_old_answers_are_forgotten() -> None:
    clock = ServerClock()
    clock.learn(at(1005.0), 0.0, 0.0)
    for second in range(8):
        clock.learn(at(2000.5 + second), 1000.0 + second, 1001.0 + second)
    assert clock.here(at(2100.0)) == 1100.0


def test_the_time_of_day_is_held_against_the_server_by_the_quickest_round_trip() -> None:
    clock = ServerClock()
    assert clock.reading(1000.0, 0.0) is None
    clock.learn(at(1000.0), 0.0, 4.0)
    clock.learn(at(1010.1), 10.0, 10.2)
    reading = clock.reading(1021.5, 20.0)
    assert reading is not None
    assert reading.offset_seconds == pytest.approx(1.5)
    assert reading.uncertainty_seconds == pytest.approx(0.1)


def test_a_time_of_day_that_was_set_shows_at_once() -> None:
    clock = ServerClock()
    clock.learn(at(1000.0), 0.0, 0.0)
    offsets = [reading.offset_seconds for wall in (1005.0, 905.0) if (reading := clock.reading(wall, 5.0))]
    assert offsets == pytest.approx([0.0, -100.0])
