"""A clock that a test moves."""

from datetime import datetime, timedelta

from factories.announced import NOW


class MovedClock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now
