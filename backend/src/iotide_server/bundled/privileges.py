"""Who the services run as: started as root they become an ordinary user that exists already, for good.

They keep no right of root. What that user may not read is refused, with the remedy.

Standard library only: `launch` runs this at the start of every child.
"""

import ctypes
import os
import pwd
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from iotide_server.bundled import StartError

USER: Final = "iotide"  # who runs the services where root starts them and no ordinary user owns their state directory

_PR_SET_PDEATHSIG = 1
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_MOST_CAPABILITIES = 64
_CAPABILITY_VERSION_3 = 0x20080522

_INSTALL_OPENLY: Final = """\
Install iotide where every user may read it, from its checkout, and start it again:
    export UV_TOOL_DIR=/opt/iotide/tools UV_PYTHON_INSTALL_DIR=/opt/iotide/python UV_TOOL_BIN_DIR=/usr/local/bin
    uv tool install --force './backend[embedded]' --with ./agent/wire"""

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Account:
    """A user of this system."""

    name: str
    uid: int
    gid: int

    @property
    def is_named(self) -> bool:
        return not self.name.isdigit()

    @property
    def is_current(self) -> bool:
        """Whether this process already runs as it."""
        return os.geteuid() == self.uid


def account_of(uid: int) -> Account:
    """The user with this number, also one that the user database does not know (as in containers)."""
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return Account(name=str(uid), uid=uid, gid=os.getegid() if uid == os.geteuid() else uid)
    return Account(name=entry.pw_name, uid=uid, gid=entry.pw_gid)


def choose_account(state_directory: Path) -> Account:
    """Return who runs the services: the caller; for root the directory's owner, else `iotide`; raise StartError."""
    if os.geteuid() != 0:
        return account_of(os.geteuid())
    if state_directory.exists() and (owner := state_directory.stat().st_uid) != 0:
        return account_of(owner)
    try:
        return account_of(pwd.getpwnam(USER).pw_uid)
    except KeyError as error:
        raise StartError(
            f"root may not run the services, and this system has no user {USER}.",
            remedy=f"Make it: useradd --system --home-dir /nonexistent --shell /usr/sbin/nologin {USER}\n"
            f"Or give {state_directory} to another ordinary user with chown.",
        ) from error


def code_locations() -> list[Path]:
    """Return what a Python child has to read: the interpreter, by each name, and everything it may import."""
    interpreter = Path(sys.executable)
    return [interpreter, interpreter.resolve(), *(Path(entry) for entry in sys.path if Path(entry).exists())]


def become(account: Account, *, code: Iterable[Path] = (), state: Path | None = None) -> None:
    """Turn this process into the account for good, without any right of root; raise StartError if that cannot work."""
    if not account.is_current:
        _drop_bounding_set()
        _set_ids(account)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    surrender()
    for path in code:
        if not os.access(path, os.R_OK):
            raise StartError(f"The services run as {account.name}, who may not read {path}.", remedy=_INSTALL_OPENLY)
    if state is not None and not os.access(state, os.R_OK | os.W_OK | os.X_OK):
        raise StartError(
            f"The services run as {account.name}, who may not enter {state}.",
            remedy="Choose a state directory that this user can enter with --state, for instance /var/lib/iotide.",
        )
    leave_closed_directory()


def leave_closed_directory() -> None:
    """Change to `/` if this process may not enter its own directory, or if that was removed."""
    # initdb and shells change to where they start, and fail in such a place.
    try:
        os.chdir(Path.cwd())
    except OSError:
        os.chdir("/")


def surrender() -> None:
    """Give up every capability, also for the program that this process becomes next."""
    if os.geteuid() != 0:
        _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
        _clear_capabilities()


def die_with_parent(parent_pid: int, signal_number: int) -> None:
    """Ask the kernel to send this process the signal when its parent ends, and exit if it has ended already."""
    _prctl(_PR_SET_PDEATHSIG, signal_number)
    if os.getppid() != parent_pid:
        sys.exit("the parent ended before its child began")


def _set_ids(account: Account) -> None:
    if account.name.isdigit():
        os.setgroups([])
    else:
        os.initgroups(account.name, account.gid)
    os.setresgid(account.gid, account.gid, account.gid)
    os.setresuid(account.uid, account.uid, account.uid)


def _drop_bounding_set() -> None:
    """Take every capability from what this process may ever gain, as far as root may do so here."""
    for number in range(_MOST_CAPABILITIES):
        if _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(number), *[ctypes.c_ulong(0)] * 3) != 0:
            return  # there are no more, or root in a container lacks the right


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilitySets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def _clear_capabilities() -> None:
    """Empty the effective, permitted and inheritable set of this process (capset(2))."""
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    sets = (_CapabilitySets * 2)()
    if _libc.capset(ctypes.byref(header), sets) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _prctl(option: int, *values: int) -> None:
    arguments = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    if _libc.prctl(option, *arguments) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")
