"""Steps of one program over several nodes: with the launcher on the head, as remote parts on a member."""

import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from iotide_agent.mpi.head import Head
from iotide_agent.mpi.member import Member
from iotide_agent.mpi.steps import MemberStep, run_member_step
from iotide_agent.runner import processes
from iotide_agent.runner.card import StepCard
from iotide_agent.runner.files import NotPlainError, open_plain
from iotide_agent.runner.groups import Groups
from iotide_agent.runner.load import Load
from iotide_agent.runner.processes import boottime

LINGER_SECONDS: Final = 10.0
"""A launcher that runs on for longer after its program's whole output hangs."""
REPORT_SECONDS: Final = 1.0
_TAIL_BYTES: Final = 4096

Command = Callable[[Sequence[str]], tuple[str, ...]]
"""Returns the launcher's argument list for a program's."""


class HeadGroups(Groups):
    """Groups of one step each, which starts on all nodes."""

    def lead(self, head: Head, command: Command | None, own_part: str) -> None:
        """Call this first; `command` is None for a program that starts its parts itself.

        `own_part` see `Head.watch_launcher`.
        """
        note = self._note

        def note_launcher(loads: list[Load]) -> None:
            note(loads)
            head.watch_launcher(loads[0].pid, own_part)

        self._note = note_launcher
        self._head = head
        self._command = command
        self._whole_since: float | None = None
        self._look_at = 0.0
        self._has_hung = False
        self.hung_steps: list[str] = []

    @property
    def idle_seconds(self) -> float:
        """Return the time in which no node moved a byte, and the program printed nothing."""
        return min(super().idle_seconds, self._head.idle_seconds)

    def _run(self, group: Sequence[StepCard], before_done: Sequence[str], until: float, start_at: float) -> None:
        [step] = group
        if self._command is not None:
            # A launcher that waits for its parts ignores SIGTERM.
            step = step._replace(argv=self._command(step.argv), stop_signal=signal.SIGKILL)
        self._whole_since, self._has_hung = None, False
        ordinal, before = len(self.records), os.times()
        self._head.begin_step(ordinal)
        try:
            super()._run([step], before_done, until, start_at)
            self._head.end_step(self._check, launcher_hung=self._has_hung)
        finally:
            if len(self.records) > ordinal:  # none of a launcher that could not be forked
                self.records[-1] |= {"argv": [*step.argv]} | ({"launcher_hung": True} if self._has_hung else {})
                _count_orphans(self.records[-1], before)

    def _check_loads(self) -> None:
        for load in self._loads:
            if not load.ended and self._hangs(load):
                self._has_hung = True
                self.hung_steps.append(load.step.name)
                processes.send_group(signal.SIGKILL, load.pid)
        if not self._has_hung:
            super()._check_loads()

    def _hangs(self, load: Load) -> bool:
        """Look once a second if the output is whole; return true once, some seconds after it is."""
        now = boottime()
        if not load.step.end_mark or self._has_hung or now < self._look_at:
            return False
        self._look_at = now + REPORT_SECONDS
        if self._whole_since is None and self._is_whole(load):
            self._whole_since = now
            self._head.has_whole_output = True
        return self._whole_since is not None and now - self._whole_since >= LINGER_SECONDS

    def _is_whole(self, load: Load) -> bool:
        mark = load.step.end_mark
        if mark in load.stdout.last_line():
            return True
        return load.step.end_file is not None and mark in self._end_of(Path(load.step.end_file))

    def _end_of(self, file: Path) -> str:
        try:
            with os.fdopen(open_plain(file, self._surroundings.scratch), "rb") as opened:
                opened.seek(max(0, os.fstat(opened.fileno()).st_size - _TAIL_BYTES))
                return opened.read(_TAIL_BYTES).decode(errors="replace")
        except (OSError, NotPlainError):
            return ""


class MemberGroups(Groups):
    """Groups of one step each, which runs here as the parts that the head asks for."""

    def follow(self, member: Member) -> None:
        """Call this first."""
        self._member = member
        member.look = self.sampler.look

    def _run(self, group: Sequence[StepCard], before_done: Sequence[str], until: float, start_at: float) -> None:
        del start_at  # the head's launcher asks for the parts after it
        [step], [done], ordinal, before = group, before_done, len(self.records), os.times()

        def start(argv: Sequence[str]) -> Load:
            number = len(self._loads)
            name = f"{step.name}.{number}" if number else step.name
            part = step._replace(name=name, argv=tuple(argv), stop_signal=signal.SIGKILL, socket=None)
            load = Load(part, done, ordinal, self._surroundings, 0.0)
            self._loads.append(load)
            self._note(self._loads)
            return load

        self._loop.every(self._report, self)
        wanted = MemberStep(ordinal, start, until, self._surroundings.patience_seconds)
        try:
            run_member_step(self._loop, self._member, wanted, self._check)
        finally:
            self._loop.every(None, self)
            self.escaped_processes = self._member.left_over
            self._close(step, before)

    def _report(self) -> float:
        self._member.say(kind="moved", bytes=self.sampler.moved_bytes)
        return boottime() + REPORT_SECONDS

    def _close(self, step: StepCard, before: os.times_result) -> None:
        """Record the parts of a step as one."""
        loads, self._loads = self._loads, []
        records = []
        for load in loads:
            load.unwatch(self._loop)
            records.append(load.close() | {"argv": [*load.step.argv]})
            self._captures += (load.stdout, load.stderr)
        if records:
            self.records.append(_together(step.name, records) | self.sampler.descriptors.record(step))
            _count_orphans(self.records[-1], before)


def _together(name: str, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one record of all parts: their sums, the first failure, and the time from first start to last end."""
    begin = min(part["started_at_epoch_seconds"] for part in parts)
    end = max(part["started_at_epoch_seconds"] + part["wall_seconds"] for part in parts)
    failed = (part for part in parts if part["signal"] is not None or part["exit_status"] != 0)
    decisive = next(failed, parts[0])
    added = ("user_seconds", "system_seconds", "stdout_left_out_bytes", "stderr_left_out_bytes")
    return (
        decisive
        | {"name": name, "started_at_epoch_seconds": begin, "wall_seconds": end - begin}
        | {sum_of: sum(part[sum_of] for part in parts) for sum_of in added}
        | {"max_rss_bytes": max(part["max_rss_bytes"] for part in parts)}
    )


def _count_orphans(record: dict[str, Any], before: os.times_result) -> None:
    """Add the CPU time of processes that their parent left, as IOzone's; it would count as others' load."""
    now = os.times()
    reaped = {"user": now.children_user - before.children_user, "system": now.children_system - before.children_system}
    record |= {f"{kind}_seconds": max(record[f"{kind}_seconds"], seconds) for kind, seconds in reaped.items()}
