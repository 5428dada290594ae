"""Commands of `iotide` in this process, and what remains after they end."""

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
    """A time module for a watcher that does not wait."""

    @staticmethod
    def sleep(seconds: float) -> None:
        del seconds
