"""Execution paths of inputs through our code, to keep the few inputs that reach new ones."""

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
    """Return the steps from line to line that an input takes in code of iotide."""
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


def distinguishing(
    target: Target, seeds: Iterable[bytes], inputs: Iterable[bytes], most: int, seconds: float = inf
) -> tuple[list[bytes], list[bytes]]:
    """Return the inputs that reach lines which no seed and no shorter input reached, up to `most`.

    Returns:
        These inputs, and those not tried: there were enough, or the time was over.
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
