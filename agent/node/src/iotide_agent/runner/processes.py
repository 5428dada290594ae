"""Processes by pid and start time, their descendants and the files they hold open, as /proc tells."""

import ctypes
import os
import signal
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from iotide_agent.runner.files import closing

_PROC: Final = Path("/proc")
_PR_SET_PDEATHSIG: Final = 1
_PR_GET_PDEATHSIG: Final = 2
_PR_SET_DUMPABLE: Final = 4
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_STAT_BYTES: Final = 1024
"""More than the 52 fields of /proc/PID/stat with a name of 64 bytes take."""
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


class Stat(NamedTuple):
    """Part of /proc/PID/stat; with the pid `start_ticks` names a process for as long as the node is up.

    No other process gets the number `session` while the session lives; `cpu_ticks` are its own and of children it
    waited for; /proc tells of what `is_thread` by number but does not list it.
    """

    pid: int
    name: str
    state: str
    parent: int
    session: int
    start_ticks: int
    cpu_ticks: int
    is_thread: bool


class Stuck(NamedTuple):
    """A process that no signal ends, and the kernel function in which it waits."""

    pid: int
    name: str
    state: str
    wait_channel: str

    def __str__(self) -> str:
        return f"{self.name} (pid {self.pid}) in state {self.state}, waiting in {self.wait_channel}"


def boot_id() -> str:
    """Changes at every boot of the node."""
    return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def boottime() -> float:
    """Seconds since boot, time asleep included: a frozen or suspended run still meets its deadline."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def sleep_until(moment: float) -> None:
    """Returns once CLOCK_BOOTTIME has reached the moment."""
    while (seconds := moment - boottime()) > 0:
        time.sleep(seconds)


def stat_of(pid: int) -> Stat | None:
    """Return what /proc says of a process or thread, None once it is gone.

    A process lives as long as one of its threads: where the first one has ended before the others, as that of a killed
    fio whose other thread hangs, the state is that of one that lives.
    """
    stat = _read_stat(pid)
    if stat is None or stat.state not in "ZX" or stat.is_thread:
        return stat
    living = _living_thread(pid)
    return stat if living is None else stat._replace(state=living.state)


def _living_thread(pid: int) -> Stat | None:
    """Return a thread of the process that has not ended, one that hangs before others; None where all have."""
    try:
        threads = [_read_stat(int(name)) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - as above
    except OSError:
        return None
    living = [stat for stat in threads if stat is not None and stat.state not in "ZX"]
    return min(living, key=lambda stat: stat.state != "D", default=None)


def _read_stat(pid: int) -> Stat | None:
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)  # a Path costs several times as much
    except OSError:
        return None
    try:
        text = os.read(descriptor, _STAT_BYTES).decode(errors="replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)
    # The name stands in parentheses and may itself hold spaces and parentheses.
    name = text[text.index("(") + 1 : text.rindex(")")]
    fields = text[text.rindex(")") + 2 :].split()
    cpu_ticks = sum(map(int, fields[11:15]))
    is_thread = fields[35] == "-1"  # the signal that its parent gets when it ends
    return Stat(pid, name, fields[0], int(fields[1]), int(fields[3]), int(fields[19]), cpu_ticks, is_thread)


def is_alive(pid: int, start_ticks: int) -> bool:
    """Whether exactly this process still runs; a zombie does not."""
    stat = stat_of(pid)
    return stat is not None and stat.start_ticks == start_ticks and stat.state not in "ZX"


def times_scheduled(pid: int) -> int:
    """How often a process was given a processor so far; one that hangs in the kernel is not. 0 once it is gone."""
    try:
        status = (_PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in status.splitlines() if "voluntary_ctxt_switches:" in line)


def all_pids() -> list[int]:
    """Every process that this one can see."""
    return [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208 - twice as fast, runs each second


def descendants(root: int) -> list[Stat]:
    """Every process below `root` by its chain of parents, zombies included."""
    children: dict[int, list[Stat]] = {}
    for stat in map(stat_of, all_pids()):
        if stat is not None:
            children.setdefault(stat.parent, []).append(stat)
    found = list(children.get(root, ()))
    for stat in found:  # grows while it is walked
        found += children.get(stat.pid, ())
    return found


def of_sessions(leaders: Mapping[int, int]) -> list[Stat]:
    """Every living process of these sessions, each named by pid and start time of the process that began it."""
    present = [stat for stat in map(stat_of, all_pids()) if stat is not None]
    reused = {stat.pid for stat in present if leaders.get(stat.pid, stat.start_ticks) != stat.start_ticks}
    return [stat for stat in present if stat.session in leaders.keys() - reused and stat.state not in "ZX"]


def started_with(program: str, argument: str) -> list[int]:
    """Find the processes of root or of this user in whose command line the argument follows the program.

    Anybody can start a process with such a command line. A stranger's is not even read: it lies in memory of the
    process, and where that is a mapped file whose storage hangs, its reader hangs too.
    """
    words = f"\0{program}\0{argument}\0".encode()
    return [pid for pid in all_pids() if _is_trusted(pid) and words in _command_line(pid)]


def holders(file: Path) -> list[int]:
    """Processes other than this one that have `file` open: an inherited lock file marks all of a load.

    Compared by name, since asking for the files behind the descriptors could wait for ever on a dead mount. Anybody
    can have a file of that name in a mount namespace. So a process of another user counts only where it holds a lock on
    this very file, as a load does that inherited it.
    """
    name, lock = str(file.resolve()), _lock_name(file)
    return [pid for pid in all_pids() if pid != os.getpid() and _holds(pid, name, lock)]


def open_names(pid: int) -> list[bytes]:
    """Return the names of what a process has open; none of one that is gone, or that is another user's."""
    names = []
    with suppress(OSError):
        for link in (_PROC / str(_with_files(pid)) / "fd").iterdir():
            with suppress(OSError):
                names.append(os.fsencode(link.readlink()))
    return names


def _with_files(pid: int) -> int:
    """Return the process, or a thread of it that lives where its first one, which has ended, shows no file any more."""
    stat = _read_stat(pid)
    if stat is None or stat.state not in "ZX":
        return pid
    living = _living_thread(pid)
    return pid if living is None else living.pid


def mentioned(words: Collection[bytes]) -> set[bytes]:
    """Those of the words that are in another process's command line or in the name of what it has open or mapped."""
    texts = (text for pid in all_pids() if pid != os.getpid() for text in _names_used(pid))
    return {word for text in texts for word in words if word in text}


def stuck(stats: Iterable[Stat]) -> tuple[Stuck, ...]:
    """What these processes wait for in the kernel, as far as this user may know."""
    found = []
    for stat in stats:
        hanging = _living_thread(stat.pid) or stat
        found.append(Stuck(stat.pid, stat.name, hanging.state, _wait_channel(hanging.pid)))
    return tuple(found)


def send(number: signal.Signals, pids: Iterable[int]) -> None:
    """Sends a signal to each process that still exists."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue  # gone, or a setuid tool: its group's signal and its parent's end are what remains


def send_group(number: signal.Signals, group: int) -> None:
    """Sends a signal to each process of a group that still exists."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


def become_subreaper() -> None:
    """From now on a descendant that loses its parent becomes a child of this process, however it was started."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Makes the kernel kill this process when the one that forked it ends; survives exec."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def dies_with_parent() -> bool:
    """Return whether the kernel kills this process when its parent ends; a change of its user ends that."""
    number = ctypes.c_int()
    _prctl(_PR_GET_PDEATHSIG, ctypes.addressof(number))
    return number.value == signal.SIGKILL


def stay_readable() -> None:
    """Let this process read its own files of /proc after a change of its user."""
    _prctl(_PR_SET_DUMPABLE, 1)


def gain_no_rights() -> None:
    """Make the kernel ignore set-user-id bits and file capabilities of what this process starts."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl option {option} was refused")


def _holds(pid: int, name: str, lock: bytes | None) -> bool:
    """Check that a process has a file of this name open, and a lock that /proc shows so where it is a stranger's."""
    own = _PROC / str(_with_files(pid))
    try:
        entries = os.listdir(own / "fd")  # noqa: PTH208 - strings and no paths, as a process may have very many files
        numbers = [entry for entry in entries if os.readlink(own / "fd" / entry) == name]  # noqa: PTH115 - as above
    except OSError:
        return False  # gone, or another user's, which cannot hold a file of mode 0600
    return bool(numbers) and (_is_trusted(pid) or any(_has_lock(own / "fdinfo" / number, lock) for number in numbers))


def _has_lock(described: Path, lock: bytes | None) -> bool:
    try:
        lines = described.read_bytes().splitlines()
    except OSError:
        return False
    return lock is not None and any(line.startswith(b"lock:") and lock in line.split() for line in lines)


def _lock_name(file: Path) -> bytes | None:
    """Return device and inode as /proc writes them of a lock; None where the file cannot be opened.

    The device is that of the file system, which may be another one than `stat` shows, as on Btrfs.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    with closing(descriptor):
        inode = os.fstat(descriptor).st_ino
        described = (_PROC / "self/fdinfo" / str(descriptor)).read_text(encoding="ascii").split()
    mount = described[described.index("mnt_id:") + 1]
    mounts = (_PROC / "self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    device = next((fields[2] for line in mounts if (fields := line.split())[0] == mount), None)
    if device is None:
        return None
    major, minor = map(int, device.split(":"))
    return f"{major:02x}:{minor:02x}:{inode}".encode()


def _is_trusted(pid: int) -> bool:
    """Check that root or this user started a process, by its real user id, which a process cannot choose."""
    try:
        status = (_PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    real = next((line.split()[1] for line in status.splitlines() if line.startswith("Uid:")), "")
    return real in {"0", str(os.getuid())}


def _names_used(pid: int) -> Iterator[bytes]:
    """Without what was closed meanwhile, and of another user's process, who cannot enter what is ours alone, a part."""
    yield _command_line(pid)
    directory = _PROC / str(_with_files(pid))
    links = [directory / "cwd", directory / "root"]
    with suppress(OSError):
        links += (directory / "fd").iterdir()
    for link in links:
        with suppress(OSError):
            yield os.fsencode(link.readlink())
    with suppress(OSError):
        yield (directory / "maps").read_bytes()


def _wait_channel(pid: int) -> str:
    try:
        channel = (_PROC / str(pid) / "wchan").read_text(encoding="ascii").strip()
    except OSError:
        return "an unknown place"
    return channel if channel not in {"", "0"} else "an unknown place"


def _command_line(pid: int) -> bytes:
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""  # it ended meanwhile
