"""Which ways through our code an input takes, so that of many inputs those few are kept that tell something new."""

import sys
from collections.abc import Iterable
from functools import cache
from math import inf
from time import monotonic
from types import FrameType
from typing import Any, Final

from fuzzing.harness import try_input
from fuzzing.target import Target

_OWN: Final = ("/iotide_agent/", "/iotide_wire/", "/iotide_server/schedules/", "/cronsim/")
Arc = tuple[str, int, int]


@cache
def _is_own(file: str) -> bool:
    return any(part in file for part in _OWN)


def arcs(target: Target, data: bytes) -> frozenset[Arc]:
    """The steps from line to line that feeding takes in code of ours."""
    found: set[Arc] = set()

    def begin(frame: FrameType, _event: str, _argument: Any) -> Any:  # noqa: ANN401 - as sys.settrace has it
        if not _is_own(frame.f_code.co_filename):
            return None
        file, last = frame.f_code.co_filename, 0

        def step(inner: FrameType, event: str, _argument: Any) -> Any:  # noqa: ANN401 - as sys.settrace has it
            nonlocal last
            if event == "line":
                found.add((file, last, inner.f_lineno))
                last = inner.f_lineno
            return step

        return step

    before = sys.gettrace()
    sys.settrace(begin)
    try:
        try_input(target, data, limit_seconds=60.0)
    finally:
        sys.settrace(before)
    return frozenset(found)


def telling(
    target: Target, seeds: Iterable[bytes], inputs: Iterable[bytes], most: int, seconds: float = inf
) -> tuple[list[bytes], list[bytes]]:
    """Of the inputs those that go where no seed and no shorter input went, at most so many.

    Returns:
        These, and those that were not looked at: there were enough, or the time was over.
    """
    until = monotonic() + seconds
    seen: set[Arc] = set()
    for seed in seeds:
        seen |= arcs(target, seed)
    found: list[bytes] = []
    shortest_first = sorted(set(inputs), key=lambda data: (len(data), data))
    for place, data in enumerate(shortest_first):
        if len(found) == most or monotonic() > until:
            return found, shortest_first[place:]
        ways = arcs(target, data)
        if ways - seen:
            seen |= ways
            found.append(data)
    return found, []
