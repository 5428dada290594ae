"""Member of a gang: starts remote parts of MPI as loads when the head asks, and ends all of them with the channel."""

import os
import signal
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Final, NamedTuple

from iotide_agent.mpi.channel import Channel
from iotide_agent.mpi.gate import Gate
from iotide_agent.mpi.messages import Words
from iotide_agent.mpi.remote_commands import Allowance, StartRefusal, StartRefusedError, read_remote_command
from iotide_agent.runner import processes
from iotide_agent.runner.endings import RunEndedError, end_loads
from iotide_agent.runner.load import Load
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.processes import boottime

HEAD_SECONDS: Final = 60.0
MOST_PARTS: Final = 6144
"""Limit of a step; IOzone asks once for each of its operations and at most 256 processes of a node."""
_MOST_SWEEPS: Final = 20


class RemotePart(NamedTuple):
    """Remote part that runs.

    Attributes:
        number: Chosen by the head.
        lingers: The end of the started process is not the end of the part.
    """

    number: int
    load: Load
    lingers: bool


class Gathering(NamedTuple):
    """Values that a member needs before its head connects; `heads` see `Gate`."""

    address: str
    token: str
    allowance: Allowance
    heads: tuple[str, ...] = ()


class Member:
    """Starts and ends the parts of one run, step after step.

    Attributes:
        refused: Number of refused start requests by reason; `gate.refused` has those of strangers.
        left_over: Processes that outlived their part, or the end of a step.
        look: Called before a part's counters go with its process.
    """

    def __init__(self, loop: Loop, gathering: Gathering) -> None:
        """Listen; raise OSError if the node does not have the address."""
        self._loop = loop
        self._allowance = gathering.allowance
        self._start: Callable[[Sequence[str]], Load] | None = None
        self._step: int | None = None
        self._parts: dict[int, RemotePart] = {}
        self._early: list[Words] = []
        self._is_over = False
        self._asked: dict[str, Words] = {}
        self._head_until = inf
        self.look: Callable[[], object] = lambda: None
        self.ended: list[Load] = []
        self.refused: dict[str, int] = {}
        self.left_over = 0
        self.gate = Gate(loop, gathering.address, gathering.token, self._take, gathering.heads)

    @property
    def loads(self) -> list[Load]:
        """Return the loads of this step, which the caller closes after its end."""
        return [*self.ended, *(part.load for part in self._parts.values())]

    def begin_step(self, step: int, start: Callable[[Sequence[str]], Load]) -> None:
        """Start from now on what the head asks for in this step, also what it asked while caches were dropped."""
        self._step, self._start, self._is_over = step, start, False
        self._head_until = boottime() + HEAD_SECONDS
        self.ended = []
        early, self._early = self._early, []
        channel = self.gate.channel
        for words in early:
            if channel is not None and channel.lost is None:
                self._take(words)

    def is_over(self) -> bool:
        """Return true once the head has said that the step ended.

        Raise RunEndedError if the head is lost, or did not connect within a minute.
        """
        self.check()
        return self._is_over

    def expect_head(self) -> None:
        """Begin the minute in which the head must connect."""
        self._head_until = boottime() + HEAD_SECONDS

    def trust_name(self, host: str) -> None:
        """Accept a host name of the head, which proved the token, as its control address; no further IPv4 address."""
        if host.replace(".", "").isdecimal():
            return
        self._allowance = self._allowance._replace(head_names=(*self._allowance.head_names, host))

    def asked(self, kind: str) -> Words | None:
        """Return what the head asked for before the first step, or None."""
        self.check()
        return self._asked.get(kind)

    def check(self) -> None:
        """Raise RunEndedError if the head is lost, or did not connect within a minute."""
        channel = self.gate.channel
        if channel is None and boottime() >= self._head_until:
            waited = f"port {self.gate.port} within {HEAD_SECONDS:g} s"
            reason = (
                f"the head of the run did not connect to {waited}; allow TCP from its node in the firewall of this one"
            )
            raise RunEndedError("failed", "head_missing", reason)
        if channel is not None and channel.lost is not None and not self._is_over:
            reason = f"the start channel from the head of the run ended: {channel.lost}"
            raise RunEndedError("failed", "head_lost", reason)

    def end_step(self, patience_seconds: float) -> None:
        """Kill what is left of the step, and send the head the number of those processes.

        Raise RunEndedError for processes that no signal ends.
        """
        self.left_over += self._kill_all()
        try:
            end_loads(self._loop, self.loads, 0.0, patience_seconds)
        finally:
            for part in [*self._parts.values()]:
                self._finish(part)
            self._step = self._start = None
        self.say(kind="left", left_over=self.left_over)

    def close(self) -> None:
        """Close the channel, so that the head ends the run if it still runs."""
        self.gate.close()

    def _take(self, words: Words) -> None:
        match words.get("kind"):
            case "start" | "over" if self._step is None or words["step"] > self._step:
                self._keep_early(words)
            case "start":
                self._start_part(words)
            case "stop" if words["part"] in self._parts:
                self._end_part(self._parts[words["part"]])
            case "stop":
                self._early = [early for early in self._early if early.get("part") != words["part"]]
            case "over" if words["step"] == self._step:
                self._is_over = True
            case "share" | "look" as kind:
                self._asked[kind] = words
            case _:
                return

    def _keep_early(self, words: Words) -> None:
        self._early.append(words)
        if len(self._early) > MOST_PARTS and self.gate.channel is not None:
            self.gate.channel.close("the head asks for too many parts")

    def _start_part(self, words: Words) -> None:
        number = words["part"]
        try:
            argv = self._allowed(words)
            load = self._started(argv)
        except StartRefusedError as error:
            self.refused[error.refusal] = self.refused.get(error.refusal, 0) + 1
            self.say(kind="refused", part=number, refusal=error.refusal, reason=str(error))
            return
        part = RemotePart(number, load, self._allowance.lingers(argv))
        self._parts[number] = part
        load.watch(self._loop, lambda: self._take_end(part))
        self.say(kind="started", part=number, lingers=part.lingers)

    def _allowed(self, words: Words) -> tuple[str, ...]:
        if words["step"] != self._step:
            raise StartRefusedError(StartRefusal.STEP, f"step {words['step']} is over")
        if len(self.loads) >= MOST_PARTS or words["part"] in self._parts:
            raise StartRefusedError(StartRefusal.BUSY, f"more than {MOST_PARTS} parts, or one twice")
        argv = read_remote_command(words["words"]).argv
        self._allowance.check(argv)
        if self._parts and not self._allowance.lingers(argv):
            raise StartRefusedError(StartRefusal.BUSY, f"{argv[0]} runs here already, one for each node")
        return argv

    def _started(self, argv: Sequence[str]) -> Load:
        if self._start is None:
            raise StartRefusedError(StartRefusal.STEP, "no step runs")
        try:
            return self._start(argv)
        except OSError as error:
            reason = f"{argv[0]} cannot be started: {error.strerror}"
            raise StartRefusedError(StartRefusal.BUSY, reason) from error

    def _take_end(self, part: RemotePart) -> None:
        self.look()
        if part.load.reap(kills_group=not part.lingers):
            self._end_part(part)

    def _end_part(self, part: RemotePart) -> None:
        """End all that the part started, at once: its ranks would run on, and its launcher would not notice."""
        if not part.lingers:
            self.left_over += self._kill_all()
        self._finish(part)

    def _finish(self, part: RemotePart) -> None:
        if self._parts.pop(part.number, None) is not None:
            part.load.unwatch(self._loop)
            self.ended.append(part.load)
            self.say(kind="ended", part=part.number, left_over=self.left_over, **part.load.end)

    def _kill_all(self) -> int:
        """Kill all descendants of this process and return how many there were apart from the parts themselves."""
        own = {load.pid for load in self.loads}
        found: set[int] = set()
        for _ in range(_MOST_SWEEPS):
            living = [stat.pid for stat in processes.descendants(os.getpid()) if stat.state not in "ZX"]
            new = set(living) - found
            found |= new
            processes.send(signal.SIGKILL, living)
            if not new:
                break
        # The run's end waits for those that no signal has ended yet, and names them.
        return len(found - own)

    def say(self, **words: Any) -> None:  # noqa: ANN401 - JSON
        channel: Channel | None = self.gate.channel
        if channel is not None:
            channel.send(words)
