"""Processes by pid and start time, their descendants and open files, from /proc."""

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
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


class Stat(NamedTuple):
    """Part of /proc/PID/stat. pid and `start_ticks` identify a process until the next boot.

    `session` is not reused while the session exists. `cpu_ticks` include waited-for children. /proc does not list
    entries with `is_thread`, but opens them by number.
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
    pid: int
    name: str
    state: str
    wait_channel: str

    def __str__(self) -> str:
        return f"{self.name} (pid {self.pid}) in state {self.state}, waiting in {self.wait_channel}"


def boot_id() -> str:
    return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def boottime() -> float:
    """Return seconds since boot with suspend, so that deadlines hold after it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def sleep_until(moment: float) -> None:
    while (seconds := moment - boottime()) > 0:
        time.sleep(seconds)


def stat_of(pid: int) -> Stat | None:
    """Return the state of a process or thread; None if it is gone.

    If the first thread ended first, as in a killed fio with a hanging thread, it is the state of a living one.
    """
    stat = _read_stat(pid)
    if stat is None or stat.state not in "ZX" or stat.is_thread:
        return stat
    living = _living_thread(pid)
    return stat if living is None else stat._replace(state=living.state)


def _living_thread(pid: int) -> Stat | None:
    """Prefer hanging threads."""
    try:
        threads = [_read_stat(int(name)) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208 - as above
    except OSError:
        return None
    living = [stat for stat in threads if stat is not None and stat.state not in "ZX"]
    return min(living, key=lambda stat: stat.state != "D", default=None)


def _read_stat(pid: int) -> Stat | None:
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(descriptor, _STAT_BYTES).decode(errors="replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)
    # The name may contain spaces and parentheses.
    name = text[text.index("(") + 1 : text.rindex(")")]
    fields = text[text.rindex(")") + 2 :].split()
    cpu_ticks = sum(map(int, fields[11:15]))
    is_thread = fields[35] == "-1"
    return Stat(pid, name, fields[0], int(fields[1]), int(fields[3]), int(fields[19]), cpu_ticks, is_thread)


def is_alive(pid: int, start_ticks: int) -> bool:
    """Check that the process runs; a zombie does not."""
    stat = stat_of(pid)
    return stat is not None and stat.start_ticks == start_ticks and stat.state not in "ZX"


def times_scheduled(pid: int) -> int:
    """Return how often a process was scheduled, which does not grow while it hangs in the kernel; 0 if it is gone."""
    try:
        status = (_PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in status.splitlines() if "voluntary_ctxt_switches:" in line)


def all_pids() -> list[int]:
    return [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208 - twice as fast, runs each second


def descendants(root: int) -> list[Stat]:
    children: dict[int, list[Stat]] = {}
    for stat in map(stat_of, all_pids()):
        if stat is not None:
            children.setdefault(stat.parent, []).append(stat)
    found = list(children.get(root, ()))
    for stat in found:  # grows during iteration
        found += children.get(stat.pid, ())
    return found


def of_sessions(leaders: Mapping[int, int]) -> list[Stat]:
    """Return the living processes of sessions, identified by pid and start time of their first process."""
    present = [stat for stat in map(stat_of, all_pids()) if stat is not None]
    reused = {stat.pid for stat in present if leaders.get(stat.pid, stat.start_ticks) != stat.start_ticks}
    return [stat for stat in present if stat.session in leaders.keys() - reused and stat.state not in "ZX"]


def started_with(program: str, argument: str) -> list[int]:
    """Return root's and this user's processes with the argument directly after the program on their command line.

    Any user can start such a process. Other users' command lines are not read, because one in a mapped file on
    hanging storage would hang the reader.
    """
    words = f"\0{program}\0{argument}\0".encode()
    return [pid for pid in all_pids() if _is_trusted(pid) and words in _command_line(pid)]


def holders(file: Path) -> list[int]:
    """Return other processes that have `file` open; an inherited lock file marks all processes of a load.

    Files are compared by name, because stat could hang on a dead mount. Names can be faked in a mount namespace, so
    another user's process must hold a lock on exactly this file.
    """
    name, lock = str(file.resolve()), _lock_name(file)
    return [pid for pid in all_pids() if pid != os.getpid() and _holds(pid, name, lock)]


def with_variable(assignment: str, users: Collection[int]) -> list[Stat]:
    """Return other living processes of these users that were started with `NAME=value` in their environment.

    It finds what closed its files and left its session. Those in state D are left out, because reading the memory of
    a process that hangs on storage could hang, too.
    """
    wanted = assignment.encode()
    found = []
    for pid in all_pids():
        stat = stat_of(pid) if pid != os.getpid() and _real_user(pid) in users else None
        if stat is not None and stat.state not in "ZXD" and wanted in _environment(pid).split(b"\0"):
            found.append(stat)
    return found


def open_names(pid: int) -> list[bytes]:
    names = []
    with suppress(OSError):
        for link in (_PROC / str(_with_files(pid)) / "fd").iterdir():
            with suppress(OSError):
                names.append(os.fsencode(link.readlink()))
    return names


def _with_files(pid: int) -> int:
    """Return the process, or a living thread: if the first thread ended, the process shows no open files."""
    stat = _read_stat(pid)
    if stat is None or stat.state not in "ZX":
        return pid
    living = _living_thread(pid)
    return pid if living is None else living.pid


def mentioned(words: Collection[bytes]) -> set[bytes]:
    """Return the words found in another process's command line or the names of its open or mapped files."""
    texts = (text for pid in all_pids() if pid != os.getpid() for text in _names_used(pid))
    return {word for text in texts for word in words if word in text}


def stuck(stats: Iterable[Stat]) -> tuple[Stuck, ...]:
    found = []
    for stat in stats:
        hanging = _living_thread(stat.pid) or stat
        found.append(Stuck(stat.pid, stat.name, hanging.state, _wait_channel(hanging.pid)))
    return tuple(found)


def send(number: signal.Signals, pids: Iterable[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue  # gone, or a setuid tool, which ends with its group or its parent


def send_group(number: signal.Signals, group: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


def become_subreaper() -> None:
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends; survives exec."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def dies_with_parent() -> bool:
    number = ctypes.c_int()
    _prctl(_PR_GET_PDEATHSIG, ctypes.addressof(number))
    return number.value == signal.SIGKILL


def stay_readable() -> None:
    """Keep its own files of /proc readable after a change of user."""
    _prctl(_PR_SET_DUMPABLE, 1)


def gain_no_rights() -> None:
    """Have the kernel ignore set-user-id bits and file capabilities of programs that this process starts."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl option {option} was refused")


def _holds(pid: int, name: str, lock: bytes | None) -> bool:
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
    """Return a lock's device and inode as in /proc. The device is the file system's, on Btrfs not that of `stat`."""
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
    """Check by the real user id, which a process cannot choose, that root or this user started it."""
    return _real_user(pid) in {0, os.getuid()}


def _real_user(pid: int) -> int | None:
    try:
        status = (_PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("Uid:")), None)


def _names_used(pid: int) -> Iterator[bytes]:
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
        return b""


def _environment(pid: int) -> bytes:
    try:
        return (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return b""
