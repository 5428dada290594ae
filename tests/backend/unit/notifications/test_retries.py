from datetime import UTC, datetime, timedelta

from iotide_server.notifications.deliveries import GIVEN_UP_AFTER, next_attempt

FIRST = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


def test_pauses_double_from_half_a_minute_to_two_hours_and_end_after_a_day() -> None:
    pauses, now, attempts = [], FIRST, 1
    while (following := next_attempt(FIRST, attempts, now, None)) is not None:
        pauses.append((following - now).total_seconds() / 60)
        now, attempts = following, attempts + 1
    assert pauses[:9] == [0.5, 1, 2, 4, 8, 16, 32, 64, 120]
    assert set(pauses[9:]) == {120}
    assert GIVEN_UP_AFTER - timedelta(hours=2) < now - FIRST <= GIVEN_UP_AFTER


def test_a_receiver_may_request_a_longer_pause_up_to_the_limit() -> None:
    def pause(wished: timedelta) -> timedelta:
        following = next_attempt(FIRST, 1, FIRST, wished)
        assert following is not None
        return following - FIRST

    assert pause(timedelta(seconds=5)) == timedelta(seconds=30)
    assert pause(timedelta(minutes=7)) == timedelta(minutes=7)
    assert pause(timedelta(days=7)) == timedelta(hours=2)
