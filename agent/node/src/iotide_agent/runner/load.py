"""A load: the command of one step in its own session, its output captured, its end and its cost taken from wait4."""

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from iotide_agent.runner import processes
from iotide_agent.runner.capture import Capture
from iotide_agent.runner.card import StepCard, output_name
from iotide_agent.runner.memory import bound_load
from iotide_agent.runner.sockets import Sockets
from iotide_agent.runner.users import Ids, become
from iotide_agent.runner.walls import program_of

_NOT_STARTED: Final = 127
_PIPE_BYTES: Final = 4096
_ENDING: Final = (signal.SIGTERM, signal.SIGINT)


class Surroundings(NamedTuple):
    """What each load of a run gets.

    Attributes:
        scratch: its working directory.
        output: where its output is kept.
        patience_seconds: for killed processes to disappear.
        inherited: lock descriptors that stay open as long as any process of the load lives.
        memory_limit_bytes: what each process of it may take; 0 for no bound.
        run_as: whose rights it has; the runner's own where empty.
        sockets: at which other nodes of the run are listened for; a load may get one as its standard input.
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
    """A started step.

    Attributes:
        pidfd: becomes readable when the process ended.
        pid: also its session and process group.
        start_ticks: with the pid it names the process, should the runner die.
        ended: whether it was reaped.
        starting: readable whenever there is something to learn of the start.
        is_held_back: whether the moment of its start has not come yet.
        started_at: when the command was started, on CLOCK_MONOTONIC.
        start_failure: why it could not be.
    """

    def __init__(
        self, step: StepCard, before_done: str, ordinal: int, surroundings: Surroundings, start_at: float
    ) -> None:
        """Makes the process, which starts the command by itself at `start_at` of CLOCK_BOOTTIME."""
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
            # Of a socket, too: with the last process that has it its port is gone, and who sends there is told so.
            for descriptor in (stdin, out_write, error_write):
                os.close(descriptor)
        stat = processes.stat_of(self.pid)
        self.start_ticks = stat.start_ticks if stat else 0
        self.pidfd = os.pidfd_open(self.pid)
        stem, limit_bytes = output_name(ordinal, step.name), surroundings.output_limit_bytes
        self.stdout = Capture(out_read, surroundings.output / f"{stem}.stdout", limit_bytes)
        self.stderr = Capture(error_read, surroundings.output / f"{stem}.stderr", limit_bytes)

    def learn_start(self) -> bool:
        """Learns when the command was started and why it could not be, if so; whether that was all.

        Exec itself closes the pipe that would tell of a failure.
        """
        said = os.read(self.starting, _PIPE_BYTES)
        self._start_said += said
        moment, is_told, failure = self._start_said.partition(b"\n")
        if moment and is_told and self.is_held_back:
            self.started_at = float(moment)
            self._record["started_at_epoch_seconds"] = time.time() - (time.monotonic() - self.started_at)
        self.is_held_back = bool(said) and not is_told
        if failure:
            self.start_failure = f"{self.step.argv[0]} cannot be started: {failure.decode(errors='replace')}"
        return not said or bool(failure)

    def reap(self) -> bool:
        """If the process has ended, ends the rest of its group and takes exit status and cost; says whether it has."""
        if self.ended:
            return True
        if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return False
        # Only while its zombie is there the number of the group cannot be another's.
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
        """How long it may move and print nothing by now; None for no such limit."""
        limits = (self.step.stall_seconds, self.step.complained_stall_seconds if self.stderr.total_bytes else None)
        return min((limit for limit in limits if limit is not None), default=None)

    def succeeded(self) -> bool:
        """Whether it ended with status 0."""
        return self.ended and self._record["exit_status"] == 0

    def close(self) -> dict[str, Any]:
        """The record of the step, JSON-ready, once no process can print into the pipes any more."""
        self.stdout.finish()
        self.stderr.finish()
        os.close(self.pidfd)
        os.close(self.starting)
        return (
            {"wall_seconds": time.monotonic() - self.started_at}
            | self._record
            | {"stdout_left_out_bytes": self.stdout.left_out_bytes, "stderr_left_out_bytes": self.stderr.left_out_bytes}
        )


def _stdin(step: StepCard, sockets: Sockets) -> int:
    return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC) if step.socket is None else sockets.take(step.socket)


def _spawn(
    argv: Sequence[str], standard: tuple[int, int, int], surroundings: Surroundings, start_at: float
) -> tuple[int, int]:
    """The pid, and a pipe that says when exec was tried and why it failed; that a tool's own disk may hang for ever."""
    # Forked by hand: importing subprocess would cost the runner a third of its start-up time.
    failure_read, failure_write = os.pipe()
    # A signal before exec must end the child rather than reach the runner's handlers, which the child has inherited.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    pid = os.fork()
    if pid == 0:
        _become(argv, (*standard, failure_write), mask, surroundings, start_at)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    os.close(failure_write)
    os.read(failure_read, 1)  # its session is there, so its group can be signalled
    return pid, failure_read


def _become(
    argv: Sequence[str],
    pipes: tuple[int, int, int, int],
    mask: set[int | signal.Signals],
    surroundings: Surroundings,
    start_at: float,
) -> NoReturn:
    *standard, failure = pipes
    before_failure = b"\n"  # instead of the moment of the start, as long as that was not told
    try:
        os.setsid()
        os.write(failure, b".")
        processes.die_with_parent()
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)  # Python ignores or handles these, and exec passes "ignored" on
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for wanted, source in enumerate(standard):
            os.dup2(source, wanted)
        for descriptor in surroundings.inherited:
            os.set_inheritable(descriptor, True)
        bound_load(surroundings.memory_limit_bytes)
        become(surroundings.run_as)
        processes.die_with_parent()  # again: a change of user ends that
        os.chdir(surroundings.scratch)
        program = program_of(argv, surroundings.environment)
        # Forked ahead of the moment, which waits for nobody: between it and the command there is nothing but this line.
        processes.sleep_until(start_at)
        os.write(failure, f"{time.monotonic():.6f}\n".encode())
        before_failure = b""
        os.execve(program, tuple(argv), surroundings.environment)  # noqa: S606 - an argument list, and no shell is meant
    except BaseException as error:  # noqa: BLE001 - a forked child must never run on as a second runner
        os.write(failure, before_failure + str(error).encode()[:1000])
    os._exit(_NOT_STARTED)
