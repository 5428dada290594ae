"""Event loop of the runner and its only place to sleep: poll with deadlines on CLOCK_BOOTTIME."""

import select
from collections.abc import Callable
from typing import Final

from iotide_agent.runner.processes import boottime

_LONGEST_SECONDS: Final = 3600.0


class Loop:
    def __init__(self) -> None:
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], None]] = {}
        self._tick: Callable[[], float] | None = None
        self._tick_at = 0.0

    def watch(self, descriptor: int, handler: Callable[[], None], events: int = select.POLLIN) -> None:
        self._handlers[descriptor] = handler
        self._poll.register(descriptor, events)

    def ignore(self, descriptor: int) -> None:
        if self._handlers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def every(self, tick: Callable[[], float] | None) -> None:
        """Call `tick` now, then at each time of CLOCK_BOOTTIME that it returns; None ends it."""
        self._tick = tick
        self._tick_at = boottime() if tick else 0.0

    def turn(self, until: float) -> None:
        """Sleep until an event, or a time of CLOCK_BOOTTIME, which may be infinity."""
        if self._tick:
            until = min(until, self._tick_at)
        wait_seconds = min(max(0.0, until - boottime()), _LONGEST_SECONDS)
        for descriptor, _ in self._poll.poll(wait_seconds * 1000):
            handler = self._handlers.get(descriptor)
            if handler:
                handler()
        if self._tick and boottime() >= self._tick_at:
            self._tick_at = self._tick()
