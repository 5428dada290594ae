from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from iotide_server.campaigns.reading import _remaining

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("started", "released", "expected"),
    [
        (timedelta(minutes=-10), None, 1800.0),
        (timedelta(minutes=10), None, 0.0),
        (timedelta(minutes=-10), NOW + timedelta(days=1), 86_400.0),
    ],
    ids=[
        "at the pace so far",
        "a node whose clock is ahead leaves no negative time",
        "a spread plan takes at least until its last release",
    ],
)
def test_the_time_that_remains(started: timedelta, released: datetime | None, expected: float) -> None:
    row: Any = SimpleNamespace(started_at=NOW + started, last_start_at=released, finished=1, runs=4)
    assert _remaining(row, 1.0, NOW) == expected
