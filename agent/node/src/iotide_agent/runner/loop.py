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
        self._ticks: dict[object, tuple[Callable[[], float], float]] = {}

    def watch(self, descriptor: int, handler: Callable[[], None], events: int = select.POLLIN) -> None:
        self._handlers[descriptor] = handler
        self._poll.register(descriptor, events)

    def ignore(self, descriptor: int) -> None:
        if self._handlers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def every(self, tick: Callable[[], float] | None, owner: object = None) -> None:
        """Call `tick` now, then at each time of CLOCK_BOOTTIME that it returns; None ends it. Each owner has one."""
        if tick is None:
            self._ticks.pop(owner, None)
        else:
            self._ticks[owner] = (tick, boottime())

    def turn(self, until: float) -> None:
        """Sleep until an event, or a time of CLOCK_BOOTTIME, which may be infinity."""
        until = min([until, *(at for _, at in self._ticks.values())])
        wait_seconds = min(max(0.0, until - boottime()), _LONGEST_SECONDS)
        # A handler or tick may end another, whose descriptor may have a new owner within this turn.
        ready = self._poll.poll(wait_seconds * 1000)
        for descriptor, handler in [(descriptor, self._handlers.get(descriptor)) for descriptor, _ in ready]:
            if handler is not None and self._handlers.get(descriptor) == handler:
                handler()
        now = boottime()  # once: the head of 1,024 nodes has as many ticks
        due = [(owner, known) for owner, known in self._ticks.items() if known[1] <= now]
        for owner, known in due:
            if self._ticks.get(owner) is known:
                again_at = known[0]()
                if self._ticks.get(owner) is known:
                    self._ticks[owner] = (known[0], again_at)
