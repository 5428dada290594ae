"""Bytes and CPU time of a load's processes, including children that come and go."""

import os
from collections.abc import Iterable
from typing import Final, NamedTuple

from iotide_agent.runner import processes
from iotide_agent.runner.counters.source import growth

_SOURCES: Final = frozenset({"/dev/zero", "/dev/urandom", "/dev/random"})
_RANDOM_SOURCE: Final = "/iotide-random-source."
_SINK: Final = "/dev/null"
_GIVEN: Final = ("/dev/null", "pipe:")
"""Initial targets of a load's first two descriptors."""
_MOST_LOOKED_UP: Final = 64
"""Above this number of new pids, listing /proc is cheaper than reading each."""


class Used(NamedTuple):
    written_bytes: int
    read_bytes: int
    cpu_ticks: int


class _Member:
    """Process of the load with open /proc/PID/io and stat. `is_fed`: it or a child reads generated data.

    The kernel adds an ended child's reads to its parent, so the calls of neither show what came from a target.
    """

    def __init__(self, pid: int, parent: int) -> None:
        self.pid = pid
        self.parent = parent
        self.seen = Used(0, 0, 0)
        self.is_fed = False
        self._links: dict[int, str] = {}
        self._io, self._stat = _opened(pid, "io"), _opened(pid, "stat")
        self.is_gone = self._stat is None

    def read(self) -> None:
        try:
            self.seen = Used(*self._bytes(), max(self._cpu_ticks(), self.seen.cpu_ticks))
        except OSError:
            self.is_gone = True

    def close(self) -> None:
        for descriptor in (self._io, self._stat):
            if descriptor is not None:
                os.close(descriptor)

    def _cpu_ticks(self) -> int:
        if self._stat is None:
            return 0
        text = os.pread(self._stat, 512, 0)
        return sum(map(int, text[text.rindex(b")") + 2 :].split(None, 15)[11:15]))

    def _bytes(self) -> tuple[int, int]:
        if self._io is None:
            return self.seen[:2]
        try:
            fields = os.pread(self._io, 512, 0).split()
        except PermissionError:
            return self.seen[:2]
        asked_read, asked_written, stored_read, stored_written = (int(fields[index]) for index in (1, 3, 9, 11))
        # The count of calls misses aio, io_uring and mmap; the storage count misses tmpfs and cached data. /dev/zero
        # and /dev/null are no targets.
        written = max(stored_written, self.seen.written_bytes)
        if asked_written > written and self._is_target(1):
            written = asked_written
        read = max(stored_read, self.seen.read_bytes)
        if not self.is_fed and self._is_target(0):
            read = max(read, asked_read)
        return written, read

    def _is_target(self, descriptor: int) -> bool:
        try:
            link = os.readlink(f"/proc/{self.pid}/fd/{descriptor}")  # noqa: PTH115 - no Path needed, runs each second
        except OSError:
            # The first descriptor is closed, as in a dd that is about to end, or in a zombie: its known earlier
            # target counts.
            link = self._links.get(descriptor, "")
            return link.startswith("/") and not _is_source(link) and link != _SINK
        if not link.startswith(_GIVEN):
            self._links[descriptor] = link
            self.is_fed |= _is_source(link)
        return not _is_source(link) if descriptor == 0 else link != _SINK


class LoadTree:
    """Processes below this one, found by new pids in /proc, because some kernels do not list children.

    Listing /proc would dominate a sample's cost, so only newly allocated pids are read, unless there are many. Each
    is read again in the next sample, because at first it may be incomplete or its parent about to end.
    """

    def __init__(self) -> None:
        self._root = os.getpid()
        self._loadavg = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
        self._newest = self._looked_up_to = self._newest_pid()
        self._members: dict[int, _Member] = {}
        self._gone = Used(0, 0, 0)
        self._last = self._gone

    def total(self) -> Used:
        self._join()
        self._read()
        while gone := [pid for pid, member in self._members.items() if member.is_gone]:
            # The parent now has this usage. Read before or after, it would count never or twice.
            self._leave(gone)
            self._read()
        found = _sum((self._gone, *(member.seen for member in self._members.values())))
        # The kernel adds nothing to the parent for a child that it does not wait for.
        lost = Used(*growth(found, self._last))
        self._gone = _sum((self._gone, lost))
        self._last = _sum((found, lost))
        return self._last

    def pids(self) -> list[int]:
        return list(self._members)

    def stats(self) -> list[processes.Stat]:
        return [stat for stat in map(processes.stat_of, self._members) if stat is not None]

    def close(self) -> None:
        for member in self._members.values():
            member.close()
        self._members.clear()
        os.close(self._loadavg)

    def _read(self) -> None:
        for member in self._members.values():
            member.read()
        for member in reversed(self._members.values()):  # parents come before their children
            if member.is_fed and member.parent in self._members:
                self._members[member.parent].is_fed = True

    def _newest_pid(self) -> int:
        return int(os.pread(self._loadavg, 64, 0).split()[-1])

    def _join(self) -> None:
        made = [stat for stat in map(processes.stat_of, self._new_pids()) if stat and not stat.is_thread]
        parents = {stat.pid: stat.parent for stat in made}
        while joined := {pid for pid, parent in parents.items() if parent == self._root or parent in self._members}:
            for pid in joined:
                self._members[pid] = _Member(pid, parents.pop(pid))

    def _new_pids(self) -> list[int]:
        """Return processes and threads created since the last sample but one; some may be gone."""
        since, self._looked_up_to, self._newest = self._looked_up_to, self._newest, self._newest_pid()
        found: Iterable[int]
        if 0 <= self._newest - since <= _MOST_LOOKED_UP:
            found = range(since + 1, self._newest + 1)
        elif since < self._newest:
            found = (pid for pid in processes.all_pids() if since < pid <= self._newest)
        else:  # the kernel wraps around after the largest pid
            found = (pid for pid in processes.all_pids() if pid > since or pid <= self._newest)
        return [pid for pid in found if pid not in self._members]

    def _leave(self, gone: Iterable[int]) -> None:
        left = {pid: self._members.pop(pid) for pid in gone}
        for member in left.values():
            member.close()
            # A reaped child's figures are in its parent, and count if that is a member.
            if member.parent not in self._members:
                self._gone = _sum((self._gone, member.seen))


def _is_source(link: str) -> bool:
    return link in _SOURCES or _RANDOM_SOURCE in link


def _opened(pid: int, name: str) -> int | None:
    try:
        return os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


def _sum(parts: Iterable[Used]) -> Used:
    return Used(*map(sum, zip(*parts, strict=True)))
