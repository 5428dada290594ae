"""What the processes of a load have written, read and computed, children that come and go included."""

import os
from collections.abc import Iterable
from typing import Final, NamedTuple

from iotide_agent.runner import processes
from iotide_agent.runner.counters.source import growth

_SOURCES: Final = frozenset({"/dev/zero", "/dev/urandom", "/dev/random"})
_RANDOM_SOURCE: Final = "/iotide-random-source."
"""In the name of the pipe that loads/random_source.py fills."""
_SINK: Final = "/dev/null"
_GIVEN: Final = ("/dev/null", "pipe:")
"""What a load's first two descriptors lead to until it opens something of its own."""
_MOST_LOOKED_UP: Final = 64
"""New numbers that are looked up one by one; more cost as much as listing /proc."""


class Used(NamedTuple):
    """What a load used in all since it began: bytes, and ticks of processors, of which a second has 100."""

    written_bytes: int
    read_bytes: int
    cpu_ticks: int


class _Member:
    """A process of the load, its /proc/PID/io and stat kept open; `is_fed`: it or a child took data from a source.

    The kernel adds what a child read to its parent once it is gone, so that the calls of neither tell what came from a
    target.
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
        """Looks again; what was seen last stays where the process has gone."""
        try:
            self.seen = Used(*self._bytes(), max(self._cpu_ticks(), self.seen.cpu_ticks))
        except OSError:
            self.is_gone = True

    def close(self) -> None:
        for descriptor in (self._io, self._stat):
            if descriptor is not None:
                os.close(descriptor)

    def _cpu_ticks(self) -> int:
        """Of itself and of children that it waited for."""
        if self._stat is None:
            return 0
        text = os.pread(self._stat, 512, 0)
        return sum(map(int, text[text.rindex(b")") + 2 :].split(None, 15)[11:15]))

    def _bytes(self) -> tuple[int, int]:
        if self._io is None:
            return self.seen[:2]
        try:
            fields = os.pread(self._io, 512, 0).split()
        except PermissionError:  # a setuid tool was started in it
            return self.seen[:2]
        asked_read, asked_written, stored_read, stored_written = (int(fields[index]) for index in (1, 3, 9, 11))
        # The calls' own count misses aio, io_uring and mmap; the storage count misses tmpfs and what a cache answers.
        # What dd takes from /dev/zero or gives to /dev/null never was on a target.
        written = max(stored_written, self.seen.written_bytes)
        if asked_written > written and self._is_target(1):
            written = asked_written
        read = max(stored_read, self.seen.read_bytes)
        if not self.is_fed and self._is_target(0):
            read = max(read, asked_read)
        return written, read

    def _is_target(self, descriptor: int) -> bool:
        """Whether what the process asked of this descriptor may have been a target's."""
        try:
            link = os.readlink(f"/proc/{self.pid}/fd/{descriptor}")  # noqa: PTH115 - no Path needed, runs each second
        except OSError:
            # Closed, as each dd does before it ends, or a zombie's: what it led to before counts, if that is known.
            link = self._links.get(descriptor, "")
            return link.startswith("/") and not _is_source(link) and link != _SINK
        if not link.startswith(_GIVEN):
            self._links[descriptor] = link
            self.is_fed |= _is_source(link)
        return not _is_source(link) if descriptor == 0 else link != _SINK


class LoadTree:
    """The processes below this one, found by what is new in /proc; a kernel need not offer lists of children.

    Listing /proc would be most of what a look costs, on a large node all of it: the numbers that were given out since
    are looked up instead, unless they are many. Each is looked up twice, in the next look again: at the first it may
    be half made, or belong to a parent that is about to end and leave it to this process.
    """

    def __init__(self) -> None:
        self._root = os.getpid()
        self._loadavg = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
        self._newest = self._looked_up_to = self._newest_pid()
        self._members: dict[int, _Member] = {}
        self._gone = Used(0, 0, 0)
        self._last = self._gone

    def total(self) -> Used:
        """Of all members so far; never less than before."""
        self._join()
        self._read()
        while gone := [pid for pid, member in self._members.items() if member.is_gone]:
            # What it used is its parent's now, which may have been read before or after: it would count never or twice.
            self._leave(gone)
            self._read()
        found = _sum((self._gone, *(member.seen for member in self._members.values())))
        # Of a child that its parent does not wait for, the kernel adds nothing to the parent.
        lost = Used(*growth(found, self._last))
        self._gone = _sum((self._gone, lost))
        self._last = _sum((found, lost))
        return self._last

    def stats(self) -> list[processes.Stat]:
        """The members that still exist."""
        return [stat for stat in map(processes.stat_of, self._members) if stat is not None]

    def close(self) -> None:
        """Closes the files that were kept open."""
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
        """The pid that was given out last on this node: the last field of /proc/loadavg."""
        return int(os.pread(self._loadavg, 64, 0).split()[-1])

    def _join(self) -> None:
        made = [stat for stat in map(processes.stat_of, self._new_pids()) if stat and not stat.is_thread]
        parents = {stat.pid: stat.parent for stat in made}
        while joined := {pid for pid, parent in parents.items() if parent == self._root or parent in self._members}:
            for pid in joined:
                self._members[pid] = _Member(pid, parents.pop(pid))

    def _new_pids(self) -> list[int]:
        """Of processes and threads that were made since the look before the last; some may be gone."""
        since, self._looked_up_to, self._newest = self._looked_up_to, self._newest, self._newest_pid()
        found: Iterable[int]
        if 0 <= self._newest - since <= _MOST_LOOKED_UP:
            found = range(since + 1, self._newest + 1)
        elif since < self._newest:
            found = (pid for pid in processes.all_pids() if since < pid <= self._newest)
        else:  # after the largest number the kernel began again
            found = (pid for pid in processes.all_pids() if pid > since or pid <= self._newest)
        return [pid for pid in found if pid not in self._members]

    def _leave(self, gone: Iterable[int]) -> None:
        left = {pid: self._members.pop(pid) for pid in gone}
        for member in left.values():
            member.close()
            # The kernel adds a reaped child's figures to its parent; where that is one of ours they are counted there.
            if member.parent not in self._members:
                self._gone = _sum((self._gone, member.seen))


def _is_source(link: str) -> bool:
    return link in _SOURCES or _RANDOM_SOURCE in link


def _opened(pid: int, name: str) -> int | None:
    try:
        return os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None  # gone already, or a setuid tool whose figures are not ours to read


def _sum(parts: Iterable[Used]) -> Used:
    return Used(*map(sum, zip(*parts, strict=True)))
