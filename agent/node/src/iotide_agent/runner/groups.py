"""Run groups of steps one after another, the steps of a group in parallel, and record each step."""

from collections.abc import Callable, Sequence
from typing import Any

from iotide_agent.runner import processes
from iotide_agent.runner.capture import Capture
from iotide_agent.runner.card import StepCard
from iotide_agent.runner.endings import CANCEL_GRACE_SECONDS, GRACE_SECONDS, RunEndedError, end_loads
from iotide_agent.runner.load import Load, Surroundings
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.sampler import Printed, Sampler


class Groups:
    def __init__(
        self,
        loop: Loop,
        surroundings: Surroundings,
        make_sampler: Callable[[Printed], Sampler],
        *,
        check: Callable[[], None],
        note: Callable[[list[Load]], None],
    ) -> None:
        """`check` raises RunEndedError when the run must end; `note` receives started loads."""
        self._loop = loop
        self._surroundings = surroundings
        self._check = check
        self._note = note
        self._loads: list[Load] = []
        self._captures: list[Capture] = []
        self.records: list[dict[str, Any]] = []
        self.escaped_processes = 0
        self.sampler = make_sampler(self._printed)

    def run_first(self, group: Sequence[StepCard], before_done: Sequence[str], until: float, start_at: float) -> None:
        """The start is a time of CLOCK_BOOTTIME."""
        self.sampler.begin(start_at, group)
        self._loop.every(self.sampler.tick)
        self._run(group, before_done, until, start_at)

    def run(self, group: Sequence[StepCard], before_done: Sequence[str], until: float) -> None:
        """Run the steps of one group; `check` is called at the latest at `until` of CLOCK_BOOTTIME.

        Raise RunEndedError, with all processes of the group ended, if a step failed or the run must end.
        """
        self.sampler.begin_step(len(self.records), group)
        self._run(group, before_done, until, 0.0)

    def _run(self, group: Sequence[StepCard], before_done: Sequence[str], until: float, start_at: float) -> None:
        ordinal = len(self.records)
        grace_seconds = GRACE_SECONDS
        try:
            for offset, (step, done) in enumerate(zip(group, before_done, strict=True)):
                self._start(step, done, ordinal + offset, start_at)
            while any(load.is_held_back for load in self._loads):
                self._check()
                self._loop.turn(until)
            self._note(self._loads)
            while not all(load.ended for load in self._loads):
                self._check()
                self._check_loads()
                self._loop.turn(until)
            self._check_loads()
        except RunEndedError as error:
            grace_seconds = CANCEL_GRACE_SECONDS if error.outcome == "cancelled" else GRACE_SECONDS
            raise
        finally:
            self._end(grace_seconds)

    @property
    def idle_seconds(self) -> float:
        """Return the time in which the group moved no byte and printed nothing."""
        return self.sampler.idle_seconds

    def finish(self) -> None:
        self._loop.every(None)
        self.sampler.finish()

    def write_rest(self) -> bool:
        self._captures = [capture for capture in self._captures if not capture.write_rest()]
        return self.sampler.write_rest() and not self._captures

    def _start(self, step: StepCard, before_done: str, ordinal: int, start_at: float) -> None:
        load = Load(step, before_done, ordinal, self._surroundings, start_at)
        self._loads.append(load)
        load.watch(self._loop, lambda: self._take_end(load))

    def _check_loads(self) -> None:
        for load in self._loads:
            if load.start_failure is not None:
                raise RunEndedError("failed", "tool_missing", load.start_failure)
            if load.ended and not load.succeeded():
                raise RunEndedError("failed", "step_failed", f"step {load.step.name} failed")
            stall_seconds, idle_seconds = load.stall_seconds, self.idle_seconds
            if stall_seconds is not None and idle_seconds >= stall_seconds and not load.ended:
                reason = f"step {load.step.name} transferred and printed nothing for {idle_seconds:.0f} s"
                raise RunEndedError("failed", "stalled", f"{reason}; its limit is {stall_seconds:g} s")

    def _take_end(self, load: Load) -> None:
        self.sampler.look()  # a zombie's counters can still be read, a reaped process's cannot
        if load.reap():
            self._loop.ignore(load.pidfd)

    def _end(self, grace_seconds: float) -> None:
        try:
            self.escaped_processes += end_loads(
                self._loop, self._loads, grace_seconds, self._surroundings.patience_seconds
            )
        finally:
            for load in self._loads:
                load.unwatch(self._loop)
                self.records.append(load.close() | self.sampler.descriptors.record(load.step))
                self._captures += (load.stdout, load.stderr)
            self._loads = []

    def _printed(self) -> tuple[int, str]:
        captures = [capture for load in self._loads for capture in (load.stdout, load.stderr)]
        tails = (capture.last_line() for capture in captures if capture.total_bytes)
        return sum(capture.total_bytes for capture in captures), "\n".join(tails)


def seconds_left(until: float) -> float:
    return max(1.0, until - processes.boottime())
