"""Which ways through our code an input takes, so that of many inputs those few are kept that tell something new."""

import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any, Final

from fuzzing.harness import try_input
from fuzzing.target import Target

_OWN: Final = ("/iotide_agent/", "/iotide_wire/", "/iotide_server/schedules/", "/cronsim/")
Arc = tuple[str, int, int]


def arcs(target: Target, data: bytes) -> frozenset[Arc]:
    """The steps from line to line that feeding takes in code of ours."""
    found: set[Arc] = set()

    def begin(frame: FrameType, _event: str, _argument: Any) -> Any:  # noqa: ANN401 - as sys.settrace has it
        if not any(part in frame.f_code.co_filename for part in _OWN):
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


def telling(target: Target, seeds: Iterable[bytes], inputs: Iterable[bytes], most: int) -> list[bytes]:
    """Of the inputs those that go where no seed and no shorter input went, at most so many."""
    seen: set[Arc] = set()
    for seed in seeds:
        seen |= arcs(target, seed)
    found: list[bytes] = []
    for data in sorted(set(inputs), key=lambda data: (len(data), data)):
        if len(found) == most:
            break
        ways = arcs(target, data)
        if ways - seen:
            seen |= ways
            found.append(data)
    return found
