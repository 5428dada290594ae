"""Starts, restarts and stops the parts of `iotide-server up`."""

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
# Short, so that the part returns soon after a full disk has space again.
_LONGEST_DELAY_SECONDS = 8.0
_STEADY_SECONDS = 10.0
_CHUNK_BYTES = 65_536


@dataclass(frozen=True)
class Part:
    name: str
    command: tuple[str, ...]
    account: Account
    # polled in a thread after the start; must return within a second
    is_ready: Callable[[], bool]
    environment: Mapping[str, str] = field(default_factory=dict)
    # also sent by the kernel if the supervisor dies
    stop_signal: signal.Signals = signal.SIGTERM
    # long for busy machines
    start_deadline_seconds: float = 180.0
    stop_deadline_seconds: float = 10.0

    def launch(self) -> tuple[str, ...]:
        return launch_command(self.command, stop_signal=self.stop_signal, account=self.account)


class StoppedError(Exception):
    pass


def restart_delay_seconds(previous: float, *, ran_seconds: float) -> float:
    """Return twice the previous pause, or the shortest after a steady run."""
    if previous == 0 or ran_seconds >= _STEADY_SECONDS:
        return _FIRST_DELAY_SECONDS
    return min(2 * previous, _LONGEST_DELAY_SECONDS)


class Supervisor:
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
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._stopping.set)
        loop.add_signal_handler(signal.SIGTERM, self._stopping.set)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # ignored under nohup
            loop.add_signal_handler(signal.SIGHUP, self._stopping.set)

    async def start(self, *parts: Part) -> None:
        """Start the parts and restart them when they end. Raise StartError after the deadline, or StoppedError."""
        started = [await self._launch(part) for part in parts]
        await asyncio.gather(*map(self._until_ready, started))
        for running in started:
            running.keeper = asyncio.create_task(self._keep(running))

    async def wait(self) -> None:
        await self._stopping.wait()

    async def stop(self) -> None:
        """Stop parts in reverse order, and kill those that exceed their deadline."""
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
            start_new_session=True,  # only the supervisor gets Ctrl-C
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
                f" restarting in {format_seconds(delay_seconds)} (log: {running.output.log.path})"
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
                self._say(f"{part.name} did not stop within {format_seconds(part.stop_deadline_seconds)}; killing it")
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
        return StartError(f"{self.part.name} {what}:{lines}", remedy=f"See the full log in {self.output.log.path}.")


class _Output:
    """Pipe from a part into its log, across restarts.

    asyncio's `wait` may not return while a grandchild holds the pipe of a dead process
    (https://github.com/python/cpython/issues/119710, fixed in Python 3.12.4).
    """

    def __init__(self, log: PartLog) -> None:
        self.log = log
        self._read_end, self.write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        asyncio.get_running_loop().add_reader(self._read_end, self._take)

    def take_all(self) -> None:
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
    try:
        os.killpg(leader_pid, signal.SIGKILL)
    except ProcessLookupError:
        return
