"""What is left of a command of `iotide` that has ended."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    status: int
    out: str
    err: str


Iotide = Callable[..., Ended]


class Hurried:
    """The time module of a watcher that cannot wait."""

    @staticmethod
    def sleep(seconds: float) -> None:
        del seconds
