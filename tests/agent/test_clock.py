"""The server's clock, by the answers that took the shortest way."""

from datetime import UTC, datetime

from iotide_agent.clock import ServerClock


def at(epoch_seconds: float) -> datetime:
    return datetime.fromtimestamp(epoch_seconds, UTC)


def test_nothing_heard_means_the_same_clock() -> None:
    assert ServerClock().here(at(1000.0)) == 1000.0


def test_the_quickest_answer_is_believed() -> None:
    clock = ServerClock()
    clock.learn(at(1009.0), 1000.0, 1004.0)
    clock.learn(at(1015.1), 1010.0, 1010.2)
    clock.learn(at(1020.0), 1015.0, 1019.0)
    assert round(clock.ahead_seconds, 6) == 5.0
    assert round(clock.here(at(1100.0)), 6) == 1095.0


def test_old_answers_are_forgotten() -> None:
    clock = ServerClock()
    clock.learn(at(1005.0), 1000.0, 1000.0)
    for second in range(8):
        clock.learn(at(2000.5 + second), 2000.0 + second, 2001.0 + second)
    assert clock.ahead_seconds == 0.0
