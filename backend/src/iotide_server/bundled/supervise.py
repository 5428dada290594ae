"""Starts the parts of `iotide-server up` in order, restarts one that dies, and stops all in reverse order."""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iotide_server.bundled import StartError
from iotide_server.bundled.launch import launch_command
from iotide_server.bundled.partlog import PartLog
from iotide_server.bundled.privileges import Account
from iotide_wire.units import format_seconds

_POLL_SECONDS = 0.05
_FIRST_DELAY_SECONDS = 0.5
# Short, since what ended a part is often a disk that was full: the part comes back soon after there is room.
_LONGEST_DELAY_SECONDS = 8.0
_STEADY_SECONDS = 10.0
_CHUNK_BYTES = 65_536


@dataclass(frozen=True)
class Part:
    """One process to keep running."""

    name: str
    command: tuple[str, ...]
    account: Account
    # asked again and again after the start, in a thread; must answer within a second or so
    is_ready: Callable[[], bool]
    environment: Mapping[str, str] = field(default_factory=dict)  # added to the supervisor's own
    # asks it to end; the kernel sends the same if the supervisor dies first
    stop_signal: signal.Signals = signal.SIGTERM
    # what is not ready by then is given up; long, for machines that are busy otherwise
    start_deadline_seconds: float = 180.0
    stop_deadline_seconds: float = 10.0

    def launch(self) -> tuple[str, ...]:
        """The argument list that starts it as a child of this process."""
        return launch_command(self.command, stop_signal=self.stop_signal, account=self.account)


class StoppedError(Exception):
    """The user asked to stop while the parts were starting."""


def restart_delay_seconds(previous: float, *, ran_seconds: float) -> float:
    """Return the wait before the next start: twice the previous one, or the shortest after a steady run."""
    if previous == 0 or ran_seconds >= _STEADY_SECONDS:
        return _FIRST_DELAY_SECONDS
    return min(2 * previous, _LONGEST_DELAY_SECONDS)


class Supervisor:
    """Keeps parts running from `start` to `stop`; lives in one event loop on the main thread."""

    def __init__(
        self, *, logs: Path, lock_descriptor: int, say: Callable[[str], None], log_as_json: bool = False
    ) -> None:
        self._logs = logs
        self._log_as_json = log_as_json
        self._lock_descriptor = lock_descriptor
        self._say = say
        self._stopping = asyncio.Event()
        self._running: list[_Running] = []

    def stop_on_signals(self) -> None:
        """Take Ctrl-C, TERM and a closed terminal as the wish to stop."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._stopping.set)
        loop.add_signal_handler(signal.SIGTERM, self._stopping.set)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as it is under nohup
            loop.add_signal_handler(signal.SIGHUP, self._stopping.set)

    async def start(self, *parts: Part) -> None:
        """Start the parts, each again whenever it ends; raise StartError for one not ready in time, or StoppedError."""
        started = [await self._launch(part) for part in parts]
        await asyncio.gather(*map(self._until_ready, started))
        for running in started:
            running.keeper = asyncio.create_task(self._keep(running))

    async def wait(self) -> None:
        """Until a signal asks to stop."""
        await self._stopping.wait()

    async def stop(self) -> None:
        """End all parts, the last started first; one that does not end by itself in time is killed."""
        self._stopping.set()
        for running in reversed(self._running):
            running.end_wanted.set()
            await (running.keeper or self._end(running))
            running.output.close()
        self._running.clear()

    async def _launch(self, part: Part) -> "_Running":
        output = _Output(PartLog(self._logs / f"{part.name}.log", part.name, as_json=self._log_as_json))
        running = _Running(part, output, await self._spawn(part, output))
        self._running.append(running)
        return running

    async def _spawn(self, part: Part, output: "_Output") -> Process:
        return await asyncio.create_subprocess_exec(
            *part.launch(),
            stdin=DEVNULL,
            stdout=output.write_end,
            stderr=output.write_end,
            env={**os.environ, **part.environment},
            pass_fds=(self._lock_descriptor,),
            start_new_session=True,  # a Ctrl-C at the terminal reaches the supervisor alone
        )

    async def _until_ready(self, running: "_Running") -> None:
        part, loop = running.part, asyncio.get_running_loop()
        deadline = loop.time() + part.start_deadline_seconds
        while not await asyncio.to_thread(part.is_ready):
            if running.process.returncode is not None:
                raise running.failure(f"ended with status {running.process.returncode} before it was ready")
            if loop.time() > deadline:
                raise running.failure(f"was not ready within {format_seconds(part.start_deadline_seconds)}")
            if await _is_set_within(self._stopping, _POLL_SECONDS):
                raise StoppedError

    async def _keep(self, running: "_Running") -> None:
        delay_seconds, loop = 0.0, asyncio.get_running_loop()
        while True:
            started = loop.time()
            await _first_of(running.process.wait(), running.end_wanted.wait())
            if running.end_wanted.is_set():
                await self._end(running)
                return
            if self._stopping.is_set():
                return
            delay_seconds = restart_delay_seconds(delay_seconds, ran_seconds=loop.time() - started)
            self._say(
                f"{running.part.name} ended with status {running.process.returncode};"
                f" starting it again in {format_seconds(delay_seconds)} (its lines: {running.output.log.path})"
            )
            _kill_group(running.process.pid)
            if await _is_set_within(self._stopping, delay_seconds):
                return
            running.process = await self._spawn(running.part, running.output)

    async def _end(self, running: "_Running") -> None:
        process, part = running.process, running.part
        if process.returncode is None:
            process.send_signal(part.stop_signal)
            try:
                await asyncio.wait_for(process.wait(), part.stop_deadline_seconds)
            except TimeoutError:
                self._say(f"{part.name} did not end within {format_seconds(part.stop_deadline_seconds)} and is killed")
        _kill_group(process.pid)
        await process.wait()


@dataclass
class _Running:
    part: Part
    output: "_Output"
    process: Process
    end_wanted: asyncio.Event = field(default_factory=asyncio.Event)
    keeper: asyncio.Task[None] | None = None

    def failure(self, what: str) -> StartError:
        self.output.take_all()
        lines = "".join(f"\n  {line}" for line in self.output.log.last_lines)
        return StartError(f"{self.part.name} {what}:{lines}", remedy=f"All its lines are in {self.output.log.path}.")


class _Output:
    """One pipe into a part's log for all its starts.

    Ours rather than asyncio's, whose `wait` may not return while a grandchild holds the pipe of a dead process
    (https://github.com/python/cpython/issues/119710, fixed in Python 3.12.4).
    """

    def __init__(self, log: PartLog) -> None:
        self.log = log
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        asyncio.get_running_loop().add_reader(self._read_end, self._take)

    def take_all(self) -> None:
        """Write to the log all that is there to be read."""
        while self._take():
            pass

    def _take(self) -> bool:
        try:
            self.log.write(os.read(self._read_end, _CHUNK_BYTES))
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        self.take_all()
        self.log.close()
        asyncio.get_running_loop().remove_reader(self._read_end)
        os.close(self._read_end)
        os.close(self.write_end)


async def _first_of(*waits: Coroutine[Any, Any, object]) -> None:
    tasks = [asyncio.create_task(wait) for wait in waits]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
    return True


def _kill_group(leader_pid: int) -> None:
    """End what a part left in its process group; the group is gone in the ordinary case."""
    try:
        os.killpg(leader_pid, signal.SIGKILL)
    except ProcessLookupError:
        return
