"""Head of a gang: connects to the members, forwards its launcher's requests, and ends the run with the first loss."""

import os
import socket
import sys
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from typing import Any, Final

from iotide_agent.mpi import REMOTE_START
from iotide_agent.mpi.addresses import MemberAddress
from iotide_agent.mpi.channel import Channel
from iotide_agent.mpi.desk import Caller, Desk
from iotide_agent.mpi.greeting import GreetingError, check_token
from iotide_agent.mpi.meeting import Meeting
from iotide_agent.mpi.messages import Words
from iotide_agent.mpi.remote_commands import Allowance, StartRefusedError, read_remote_command
from iotide_agent.runner import processes
from iotide_agent.runner.endings import RunEndedError
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.processes import boottime
from iotide_agent.runner.users import Ids

EARLY_SECONDS: Final = 1.5
"""A launcher that runs on for longer after the end of a part has not noticed it."""
PARTING_SECONDS: Final = 2.0
"""Time for the parts to end after a launcher with status 0: that of Open MPI does not wait for them."""
LEAVING_SECONDS: Final = 5.0
"""Longest wait for the members' last message of a step."""
_RETRY_SECONDS: Final = 0.2
_LOOK_SECONDS: Final = 0.1
_OWN_PART_SECONDS: Final = 0.5
STARTING_SECONDS: Final = 10.0
"""Longest time in which the program of the launcher's own part may be read from its disk."""
_MOST_SHEBANG_BYTES: Final = 127
"""Linux before 5.1 cuts longer first lines of a script."""
_KILLED: Final = 128
_NOTHING: Final = Allowance((), ())
_UNKNOWN: Final = 255


class Head:
    """Start channels of the head, and its end rules.

    Attributes:
        refused: Number of refused start requests by reason.
        left_over: By node, the processes that outlived their part or a step.
        has_whole_output: The program has printed all; its parts may end before a launcher that hangs.
    """

    def __init__(
        self,
        loop: Loop,
        members: Sequence[MemberAddress],
        scratch: Path,
        run_as: Ids = (),
        own: Allowance = _NOTHING,
    ) -> None:
        """Listen at the desk; raise ValueError for a token that could be guessed.

        `own` are the parts that this node starts at the request of its own launcher, and its names.
        """
        for member in members:
            check_token(member.token)
        self._loop = loop
        self._own = own
        self._links = [_Link(member) for member in members]
        self._by_host = {name: link for link in self._links for name in (link.member.address, link.member.node)}
        self._by_part: dict[int, tuple[_Link, Caller | None, bool]] = {}
        self._next_part = 0
        self._step: int | None = None
        self._is_ending = False
        self._first_end: tuple[float, str] | None = None
        self._first_start: float | None = None
        self._failure: str | None = None
        self._lost: RunEndedError | None = None
        self._launcher: processes.Stat | None = None
        self._own_part: int | None = None
        self._moved_at = 0.0
        self.refused: dict[str, int] = {}
        self.left_over: dict[str, int] = {}
        self.has_whole_output = False
        self.desk = Desk(loop, scratch / "remote-start.socket", run_as, self._ask, self._leave)

    def gather(self, until: float, check: Callable[[], None]) -> None:
        """Connect to all members; raise RunEndedError if one does not answer until then."""
        while any(link.channel is None for link in self._links):
            check()
            for link in self._links:
                if link.channel is None and link.meeting is None and boottime() >= link.again_at:
                    self._meet(link)
            if boottime() >= until:
                raise self._unreachable(next(link for link in self._links if link.channel is None))
            self._loop.turn(min(until, boottime() + _RETRY_SECONDS))

    def ask(self, until: float, check: Callable[[], None], **words: Any) -> dict[str, Words]:  # noqa: ANN401 - JSON
        """Ask all members and return their answers by node, or those so far once one refuses.

        Raise RunEndedError if one is lost, or says nothing.
        """
        for link in self._links:
            link.answer = None
            link.say(**words)
        while silent := [link.member.node for link in self._links if link.answer is None]:
            if any(link.answer and link.answer["kind"] == "unshared" for link in self._links):
                break  # it leaves, which is not the reason
            check()
            self.check()
            if boottime() >= until:
                raise RunEndedError("failed", "member_lost", f"node {', '.join(silent)} did not answer in time")
            self._loop.turn(until)
        return {link.member.node: link.answer for link in self._links if link.answer is not None}

    def begin_step(self, step: int) -> None:
        self._step, self._is_ending, self.has_whole_output = step, False, False
        self._first_end = self._first_start = self._failure = self._launcher = None
        for link in self._links:
            link.is_done = link.has_started = False
        self._moved_at = boottime()

    def watch_launcher(self, pid: int, own_part: str) -> None:
        """Follow the part with this name that the launcher starts on its own node without a remote shell.

        Hydra does not notice its end, because the ranks hold their control connection open. Empty for none.
        """
        self._launcher = processes.stat_of(pid)

        def look() -> float:
            found = processes.descendants(pid)
            part = next((stat for stat in found if stat.name == own_part), None)
            if part is not None or self._is_late(found):
                self._loop.every(None, self)
                self._watch_own_part(None if part is None else part.pid)
            return boottime() + _LOOK_SECONDS

        if own_part:
            self._loop.every(look, self)

    def _is_late(self, found: Sequence[processes.Stat]) -> bool:
        """Check that remote parts run, so that the launcher's own must have started and ended again.

        A process with the name of its parent may be that part before its program is read.
        """
        if self._first_start is None:
            return False
        names = {stat.pid: stat.name for stat in (self._launcher, *found) if stat is not None}
        is_starting = any(names.get(stat.parent) == stat.name for stat in found)
        return boottime() - self._first_start >= (STARTING_SECONDS if is_starting else _OWN_PART_SECONDS)

    def _watch_own_part(self, pid: int | None) -> None:
        def end() -> None:
            self._forget_own_part()
            self._note_end("the part on the node of the launcher ended")

        try:
            self._own_part = None if pid is None else os.pidfd_open(pid)
        except ProcessLookupError:
            self._own_part = None
        if self._own_part is None:
            end()
        else:
            self._loop.watch(self._own_part, end)

    def _forget_own_part(self) -> None:
        self._loop.every(None, self)
        if self._own_part is not None:
            self._loop.ignore(self._own_part)
            os.close(self._own_part)
            self._own_part = None

    def _note_end(self, what: str) -> None:
        if self._first_end is None:
            self._first_end = (boottime(), what)

    def check(self) -> None:
        """Raise RunEndedError if the launcher must end; for the runner's own check while the launcher runs."""
        if self._lost is not None:
            raise self._lost
        for link in self._links:
            # A member may leave once it has ended its part of the last step.
            if link.channel is not None and link.channel.lost is not None and not link.is_done:
                reason = f"the start channel to node {link.member.node} ended: {link.channel.lost}"
                raise RunEndedError("failed", "member_lost", reason)
        may_end = self._is_ending or self.has_whole_output
        if self._first_end is not None and not may_end and boottime() - self._first_end[0] >= EARLY_SECONDS:
            raise RunEndedError("failed", "part_ended", f"{self._first_end[1]}, but the launcher ran on")

    def end_step(self, check: Callable[[], None], *, launcher_hung: bool = False) -> None:
        """Have the members end what is left after a launcher with status 0, and wait until nothing lives there.

        Raise RunEndedError if a member is lost, or had no part, as with a launcher that runs on its own node alone; or
        if a part failed: Open MPI 5 ends with status 0 after some kills. The parts of a launcher that was killed
        because it hung may fail.
        """
        self._forget_own_part()
        self._is_ending = True
        self._await_parts(check)
        for link in self._links:
            link.say(kind="over", step=self._step)
        until = boottime() + LEAVING_SECONDS
        while waiting := {link.member.node for link in self._links if not link.is_done}:
            check()
            self.check()
            if boottime() >= until:
                reason = f"node {', '.join(sorted(waiting))} did not end its part within {LEAVING_SECONDS:g} s"
                raise RunEndedError("failed", "member_lost", reason)
            self._loop.turn(until)
        for _, caller, _ in self._by_part.values():
            if caller is not None:
                self.desk.dismiss(caller)
        self._by_part = {}
        if idle := [link.member.node for link in self._links if not link.has_started]:
            reason = f"the launcher ended with status 0 without a part on node {', '.join(idle)}"
            raise RunEndedError("failed", "part_missing", f"{reason}; correct launcher and kind of [mpi] in agent.toml")
        if self._failure is not None and not launcher_hung:
            reason = f"{self._failure}, but the launcher ended with status 0"
            raise RunEndedError("failed", "part_ended", reason)

    def _await_parts(self, check: Callable[[], None]) -> None:
        until = boottime() + PARTING_SECONDS
        while parts := [link.member.node for link, _, lingers in self._by_part.values() if not lingers]:
            check()
            self.check()
            if boottime() >= until:
                self._failure = self._failure or f"the part on node {', '.join(parts)} ran on"
                return
            self._loop.turn(until)

    def end_members(self) -> None:
        """Have the members of a run that ends early kill what they run, and wait for their reports.

        The directories may be removed after this, or after the members' own limits.
        """
        if self._step is None:
            return
        self._is_ending = True
        waited = [link for link in self._links if not link.is_done]
        for link in waited:
            link.say(kind="over", step=self._step)
        until = boottime() + LEAVING_SECONDS
        while any(not link.is_done and link.is_open for link in waited) and boottime() < until:
            self._loop.turn(until)

    def close(self) -> None:
        """Close all channels: the order to kill for members that still run something."""
        self._forget_own_part()
        self.desk.close()
        for link in self._links:
            if link.meeting is not None:
                link.meeting.close()
            if link.channel is not None:
                link.channel.close()

    @property
    def longest_silence_seconds(self) -> float:
        return max((link.channel.longest_silence_seconds for link in self._links if link.channel), default=0.0)

    @property
    def idle_seconds(self) -> float:
        """Return the time since any member moved a byte in this step; infinite without members."""
        return boottime() - self._moved_at if self._links else inf

    def _meet(self, link: "_Link") -> None:
        def done(connection: socket.socket, sending: bytes, receiving: bytes) -> None:
            link.meeting = None
            link.channel = Channel(self._loop, connection, sending, receiving, lambda words: self._take(link, words))

        def failed(error: OSError | GreetingError) -> None:
            link.meeting, link.problem = None, str(error)
            link.again_at = boottime() + _RETRY_SECONDS

        link.meeting = Meeting(self._loop, (link.member.address, link.member.port), link.member.token, done, failed)
        link.meeting.begin()

    def _unreachable(self, link: "_Link") -> RunEndedError:
        member = link.member
        reason = (
            f"node {member.node} does not answer at {member.address} port {member.port}: {link.problem}; allow TCP "
            f"from this node in its firewall, or correct data_address in its agent.toml"
        )
        return RunEndedError("failed", "member_unreachable", reason)

    def _ask(self, caller: Caller, words: list[str]) -> None:
        try:
            host, argv = read_remote_command(words)
            if host in self._own.head_names:
                self._own.check(argv)
                caller.run_here(argv)
                self.desk.dismiss(caller)
                return
        except StartRefusedError as error:
            self._refuse(caller, error.refusal, str(error))
            return
        link = self._by_host.get(host)
        if link is None or link.channel is None:
            self._refuse(caller, "host", f"{host} is no member of this run")
            return
        if self._step is None:
            self._refuse(caller, "step", "no step runs")
            return
        number = caller.number = self._next_part
        self._next_part += 1
        self._by_part[number] = (link, caller, False)
        link.say(kind="start", step=self._step, part=number, words=words)

    def _refuse(self, caller: Caller, refusal: str, reason: str) -> None:
        self.refused[refusal] = self.refused.get(refusal, 0) + 1
        caller.refuse(reason)
        self.desk.dismiss(caller)
        self._lost = self._lost or RunEndedError("failed", "start_refused", f"the launcher's request: {reason}")

    def _leave(self, caller: Caller) -> None:
        """End the remote part of a remote-start program that was ended, unless its launcher has ended before."""
        if caller.number is not None and caller.number in self._by_part:
            link, _, lingers = self._by_part[caller.number]
            self._by_part[caller.number] = (link, None, lingers)
            if self._launcher is not None and not processes.is_alive(self._launcher.pid, self._launcher.start_ticks):
                return
            link.say(kind="stop", part=caller.number)
            self._failure = self._failure or f"the remote-start program of node {link.member.node} was ended"

    def _take(self, link: "_Link", words: Words) -> None:
        kind, number = words.get("kind"), words.get("part")
        if kind in {"shared", "unshared", "seen"}:
            link.answer = words
        elif kind == "moved" and words["bytes"] != link.moved_bytes:
            link.moved_bytes, self._moved_at = words["bytes"], boottime()
        elif kind == "left":
            self.left_over[link.member.node] = words["left_over"]
            # A member that leaves before the head's word has failed; its closed channel ends the run.
            link.is_done = self._is_ending
        if number not in self._by_part:
            return
        owner, caller, lingers = self._by_part[number]
        if owner is not link:
            return
        match kind:
            case "started":
                link.has_started = True
                self._first_start = self._first_start or boottime()
                self._by_part[number] = (link, caller, words["lingers"])
            case "refused":
                del self._by_part[number]
                reason = f"node {link.member.node}: {words['reason']}"
                if caller is not None:
                    self._refuse(caller, words["refusal"], reason)
            case "ended":
                del self._by_part[number]
                self._end(link, caller, words, lingers=lingers)
            case _:
                return

    def _end(self, link: "_Link", caller: Caller | None, words: Words, *, lingers: bool) -> None:
        killed_by, status = words["signal"], words["exit_status"]
        self.left_over[link.member.node] = words["left_over"]
        if caller is not None:
            known = _UNKNOWN if status is None else status
            caller.exit(known if killed_by is None else _KILLED + killed_by)
            self.desk.dismiss(caller)
        if not lingers:
            how = f"was ended by signal {killed_by}" if killed_by is not None else f"ended with status {status}"
            because = f" ({words['failure']})" if words.get("failure") else ""
            what = f"the part on node {link.member.node} {how}{because}"
            self._note_end(what)
            if killed_by is not None or status != 0:
                self._failure = self._failure or what


class _Link:
    """Member and the channel to it."""

    def __init__(self, member: MemberAddress) -> None:
        self.member = member
        self.meeting: Meeting | None = None
        self.channel: Channel | None = None
        self.again_at = 0.0
        self.problem = "no answer"
        self.is_done = False
        self.has_started = False
        self.answer: Words | None = None
        self.moved_bytes = 0

    @property
    def is_open(self) -> bool:
        return self.channel is not None and self.channel.lost is None

    def say(self, **words: Any) -> None:  # noqa: ANN401 - JSON
        if self.channel is not None:
            self.channel.send(words)


def write_remote_start(scratch: Path, run_as: Ids) -> Path:
    """Write the program in the place of ssh into the load's own scratch directory and return its path.

    A launcher takes only one word for it, and the agent's interpreter must start it without site-packages. Raise
    RunEndedError if the path of the interpreter is too long for the first line of a script.
    """
    first = f"#!{sys.executable} -IS\n"
    if len(os.fsencode(first)) > _MOST_SHEBANG_BYTES or " " in sys.executable:
        reason = f"the path of the agent's Python, {sys.executable}, is too long or has spaces; install it elsewhere"
        raise RunEndedError("declined", "no_remote_start", reason)
    path = scratch / "remote-start"
    # The directory may belong to the load's user, who must not choose the file that root writes.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o700)
    with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - of a descriptor
        file.write(first + REMOTE_START.read_text(encoding="utf-8"))
        if run_as and os.geteuid() == 0:
            os.fchown(descriptor, run_as[0], run_as[1])
    return path
