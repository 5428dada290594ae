"""State directory, held by one start at a time."""

import fcntl
import json
import os
import secrets
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from iotide_server.bundled import StartError
from iotide_server.bundled.launch import can_execute
from iotide_server.bundled.ports import unit_of
from iotide_server.bundled.privileges import Account

ENVIRONMENT_FILE = "environment.json"
_LOCK_NAME = "iotide.lock"
_ORPHAN_PATIENCE_SECONDS = 10.0
_ORPHAN_DEADLINE_SECONDS = 20.0
_POLL_SECONDS = 0.05


def default_state_directory() -> Path:
    if chosen := os.environ.get("IOTIDE_STATE"):
        return Path(chosen)
    if os.geteuid() == 0:
        return Path("/var/lib/iotide")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "iotide"


def read_environment(state_directory: Path) -> dict[str, str]:
    """Return the environment of the services that run on a state directory. Raise StartError."""
    path = state_directory.expanduser() / ENVIRONMENT_FILE
    try:
        variables: dict[str, str] = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise StartError(
            f"No services have been started on {state_directory}.",
            remedy="Give the directory of `iotide-server up` with --state, or start it.",
        ) from error
    except PermissionError as error:
        raise StartError(
            f"Only root and the user of the services can read {path}.",
            remedy="Run this command as one of them.",
        ) from error
    return variables


@dataclass(frozen=True)
class StateDirectory:
    """Directory with mode 0700 of the services' account."""

    root: Path
    account: Account

    def directory(self, name: str) -> Path:
        path = self.root
        for part in Path(name).parts:
            path /= part
            if not path.is_dir():
                path.mkdir(mode=0o700)
                self._give(path)
        return path

    def write_private(self, path: Path, content: str | bytes) -> None:
        draft = path.with_name(path.name + ".new")
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            self._give(descriptor)
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(descriptor)
        draft.replace(path)

    def _give(self, path: Path | int) -> None:
        if not self.account.is_current:  # the system call filter of a unit forbids chown
            os.chown(path, self.account.uid, self.account.gid)

    def can_execute(self, program: Path) -> bool:
        return can_execute(program, account=self.account)

    def secret(self, name: str) -> str:
        path = self.directory("secrets") / name
        if not path.exists():
            self.write_private(path, secrets.token_urlsafe(32))
        return path.read_text()


def prepare_state_directory(root: Path, account: Account) -> StateDirectory:
    root = root.expanduser().resolve()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        names = {entry.name for entry in root.iterdir()}
    except OSError as error:
        raise StartError(
            f"The state directory {root} cannot be used: {error.strerror}.",
            remedy="Choose another directory with --state.",
        ) from error
    if names and _LOCK_NAME not in names:
        raise StartError(
            f"{root} is not empty and not an iotide state directory.",
            remedy="Choose an empty or new directory with --state.",
        )
    if not names and os.geteuid() == 0:
        os.chown(root, account.uid, account.gid)
        root.chmod(0o700)
    return StateDirectory(root, account)


@contextmanager
def hold(state: StateDirectory) -> Iterator[int]:
    """Raise StartError. Every child must inherit the yielded descriptor."""
    # The kernel releases the lock with its last descriptor, so that no process of an earlier start remains.
    path = state.root / _LOCK_NAME
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.geteuid() == 0:
            os.fchown(descriptor, state.account.uid, state.account.gid)
        _lock(descriptor, path)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _identity(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def check_unused(root: Path) -> None:
    """Raise StartError if `iotide-server up` runs on this state directory."""
    try:
        identity = (root / _LOCK_NAME).read_text()
    except FileNotFoundError:
        return
    pid = identity.partition(" ")[0]
    if not pid or _identity(int(pid)) != identity:
        return
    unit = unit_of(int(pid))
    raise StartError(
        f"iotide-server is already running on {root} as process {pid}.",
        remedy=f"Stop it ({f'systemctl stop {unit}' if unit else f'kill {pid}'}),"
        " or choose another directory with --state.",
    )


def _lock(descriptor: int, path: Path) -> None:
    started = time.monotonic()
    while not _try_lock(descriptor):
        check_unused(path.parent)
        waited = time.monotonic() - started
        if waited > _ORPHAN_DEADLINE_SECONDS:
            raise StartError(
                f"Processes {_holders(path)} of an earlier start on {path.parent} did not end.",
                remedy="End them with kill -9.",
            )
        if waited > _ORPHAN_PATIENCE_SECONDS:
            for pid in _holders(path):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _identity(pid: int) -> str:
    """Return text that identifies this process even if its id is reused; empty if ended."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    state, start_time = after_name[0], after_name[19]
    if state in "ZX":
        return ""
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{pid} {start_time} {boot_id}"


def _holders(path: Path) -> list[int]:
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if link.readlink() == path:
                found.add(int(link.parts[2]))
        except OSError:
            continue
    return sorted(found - {os.getpid()})
