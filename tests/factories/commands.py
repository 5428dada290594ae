"""Commands of `iotide` in this process, and what is left of one that has ended."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from iotide_agent.cli import user


@dataclass(frozen=True)
class Ended:
    status: int
    out: str
    err: str


Iotide = Callable[..., Ended]


def run(*arguments: str) -> int:
    """Run a command; return its exit status."""
    with pytest.raises(SystemExit) as ended:
        user.main(list(arguments))
    return int(str(ended.value.code or 0))


class Hurried:
    """The time module of a watcher that cannot wait."""

    @staticmethod
    def sleep(seconds: float) -> None:
        del seconds
