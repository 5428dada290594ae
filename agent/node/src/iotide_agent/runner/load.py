"""Command of one step in its own session, with captured output and its resource usage from wait4."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from iotide_agent.runner import processes
from iotide_agent.runner.capture import Capture
from iotide_agent.runner.card import StepCard, output_name
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.memory import bound_load
from iotide_agent.runner.sockets import Sockets
from iotide_agent.runner.users import Ids, become
from iotide_agent.runner.walls import program_of

_NOT_STARTED: Final = 127
_PIPE_BYTES: Final = 4096
_ENDING: Final = (signal.SIGTERM, signal.SIGINT)


class Surroundings(NamedTuple):
    """Common environment of a run's loads.

    Attributes:
        inherited: Lock descriptors that stay open while any process of the load lives.
        memory_limit_bytes: Limit of each process; 0 for none.
        run_as: User to run as; the runner's own if empty.
        sockets: For other nodes of the run; a load may get one as its standard input.
    """

    scratch: Path
    output: Path
    output_limit_bytes: int
    patience_seconds: float
    inherited: tuple[int, ...]
    environment: dict[str, str]
    sockets: Sockets
    memory_limit_bytes: int = 0
    run_as: Ids = ()


class Load:
    """Started step.

    Attributes:
        pidfd: Becomes readable when the process ends.
        pid: Also its session and process group.
        start_ticks: With the pid it identifies the process after the runner's death.
        starting: Readable when `learn_start` has something to read.
        is_held_back: True until the time of its start.
        started_at: On CLOCK_MONOTONIC.
    """

    def __init__(
        self, step: StepCard, before_done: str, ordinal: int, surroundings: Surroundings, start_at: float
    ) -> None:
        """The process itself starts the command at `start_at` of CLOCK_BOOTTIME."""
        self.step = step
        self.ended = False
        self.is_held_back = True
        self.start_failure: str | None = None
        self._start_said = b""
        self._record: dict[str, Any] = {
            "name": step.name,
            "before_done": before_done,
            "started_at_epoch_seconds": time.time(),
            "exit_status": None,
            "signal": None,
            "user_seconds": 0.0,
            "system_seconds": 0.0,
            "max_rss_bytes": 0,
        }
        out_read, out_write = os.pipe()
        error_read, error_write = os.pipe()
        self.started_at = time.monotonic()
        stdin = _stdin(step, surroundings.sockets)
        try:
            self.pid, self.starting = _spawn(step.argv, (stdin, out_write, error_write), surroundings, start_at)
        finally:
            # Includes the socket: its port is freed with the last process, and senders then get an error.
            for descriptor in (stdin, out_write, error_write):
                os.close(descriptor)
        stat = processes.stat_of(self.pid)
        self.start_ticks = stat.start_ticks if stat else 0
        self.pidfd = os.pidfd_open(self.pid)
        stem, limit_bytes = output_name(ordinal, step.name), surroundings.output_limit_bytes
        self.stdout = Capture(out_read, surroundings.output / f"{stem}.stdout", limit_bytes)
        self.stderr = Capture(error_read, surroundings.output / f"{stem}.stderr", limit_bytes)

    def learn_start(self) -> bool:
        """Read when the command was started, or why it was not; return true when complete.

        A successful exec closes the pipe.
        """
        said = os.read(self.starting, _PIPE_BYTES)
        self._start_said += said
        moment, is_reported, failure = self._start_said.partition(b"\n")
        if moment and is_reported and self.is_held_back:
            self.started_at = float(moment)
            self._record["started_at_epoch_seconds"] = time.time() - (time.monotonic() - self.started_at)
        self.is_held_back = bool(said) and not is_reported
        if failure:
            self.start_failure = f"{self.step.argv[0]} cannot be started: {failure.decode(errors='replace')}"
        return not said or bool(failure)

    def watch(self, loop: Loop, take_end: Callable[[], None]) -> None:
        """Follow start and output in the loop, which calls `take_end` when the process has ended."""

        def learn_start() -> None:
            if self.learn_start():
                loop.ignore(self.starting)

        loop.watch(self.starting, learn_start)
        loop.watch(self.pidfd, take_end)
        for capture in (self.stdout, self.stderr):
            loop.watch(capture.fileno(), partial(_drain, loop, capture))

    def unwatch(self, loop: Loop) -> None:
        for descriptor in (self.starting, self.pidfd, self.stdout.fileno(), self.stderr.fileno()):
            loop.ignore(descriptor)

    def reap(self, *, kills_group: bool = True) -> bool:
        """If the process has ended, kill the rest of its group, read status and usage, and return true."""
        if self.ended:
            return True
        if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return False
        # The group's number cannot be reused while the zombie exists.
        if kills_group:
            processes.send_group(signal.SIGKILL, self.pid)
        _, status, usage = os.wait4(self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        self._record |= {
            "wall_seconds": time.monotonic() - self.started_at,
            "exit_status": code if code >= 0 else None,
            "signal": -code if code < 0 else None,
            "user_seconds": usage.ru_utime,
            "system_seconds": usage.ru_stime,
            "max_rss_bytes": usage.ru_maxrss * 1024,
        }
        self.ended = True
        return True

    @property
    def stall_seconds(self) -> float | None:
        limits = (self.step.stall_seconds, self.step.complained_stall_seconds if self.stderr.total_bytes else None)
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def end(self) -> dict[str, Any]:
        """Return `exit_status` or `signal`, and `failure` if the command did not start; JSON-ready."""
        return {name: self._record[name] for name in ("exit_status", "signal")} | {"failure": self.start_failure}

    def succeeded(self) -> bool:
        return self.ended and self._record["exit_status"] == 0

    def close(self) -> dict[str, Any]:
        """Return the JSON-ready record of the step, after all its processes have closed the pipes."""
        self.stdout.finish()
        self.stderr.finish()
        os.close(self.pidfd)
        os.close(self.starting)
        return (
            {"wall_seconds": time.monotonic() - self.started_at}
            | self._record
            | {"stdout_left_out_bytes": self.stdout.left_out_bytes, "stderr_left_out_bytes": self.stderr.left_out_bytes}
        )


def _drain(loop: Loop, capture: Capture) -> None:
    capture.drain()
    if not capture.open:
        loop.ignore(capture.fileno())


def _stdin(step: StepCard, sockets: Sockets) -> int:
    return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC) if step.socket is None else sockets.take(step.socket)


def _spawn(
    argv: Sequence[str], standard: tuple[int, int, int], surroundings: Surroundings, start_at: float
) -> tuple[int, int]:
    """Return the pid and a pipe that reports the time of exec or its failure; a tool's disk may hang for ever."""
    # Importing subprocess would take a third of the runner's start-up time.
    failure_read, failure_write = os.pipe()
    # The child inherited the runner's handlers; a signal before exec must end it.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    pid = os.fork()
    if pid == 0:
        _become(argv, (*standard, failure_write), mask, surroundings, start_at)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    os.close(failure_write)
    os.read(failure_read, 1)  # its session exists, so its group can receive signals
    return pid, failure_read


def _become(
    argv: Sequence[str],
    pipes: tuple[int, int, int, int],
    mask: set[int | signal.Signals],
    surroundings: Surroundings,
    start_at: float,
) -> NoReturn:
    *standard, failure = pipes
    before_failure = b"\n"
    try:
        os.setsid()
        os.write(failure, b".")
        processes.die_with_parent()
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)  # Python ignores or handles these, and exec keeps "ignored"
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for wanted, source in enumerate(standard):
            os.dup2(source, wanted)
        for descriptor in surroundings.inherited:
            os.set_inheritable(descriptor, True)
        bound_load(surroundings.memory_limit_bytes)
        become(surroundings.run_as)
        processes.die_with_parent()  # again: a change of user resets it
        os.chdir(surroundings.scratch)
        program = program_of(argv, surroundings.environment)
        # Forked before the start time; between that time and the command there is only this line.
        processes.sleep_until(start_at)
        os.write(failure, f"{time.monotonic():.6f}\n".encode())
        before_failure = b""
        os.execve(program, tuple(argv), surroundings.environment)  # noqa: S606 - an argument list, and no shell is meant
    except BaseException as error:  # noqa: BLE001 - a forked child must never run on as a second runner
        os.write(failure, before_failure + str(error).encode()[:1000])
    os._exit(_NOT_STARTED)
