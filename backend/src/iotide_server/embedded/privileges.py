"""Who the services run as: started as root they become an ordinary user that exists already, for good.

Standard library only: `launch` runs this at the start of every child.
"""

import ctypes
import os
import pwd
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from iotide_server.embedded.problems import StartError

_PR_SET_PDEATHSIG = 1
_PR_SET_KEEPCAPS = 8
_PR_SET_SECUREBITS = 28
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAP_DAC_OVERRIDE = 1
_CAP_DAC_READ_SEARCH = 2
_CAP_SETPCAP = 8
_SECBIT_NO_SETUID_FIXUP = 4
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Account:
    """A user of this system."""

    name: str
    uid: int
    gid: int

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
    """Who shall run the services: the caller; when that is root, the directory's owner; when that is root too, nobody.

    Raises:
        StartError: root asks, and this system has no user nobody.
    """
    if os.geteuid() != 0:
        return account_of(os.geteuid())
    if state_directory.exists() and (owner := state_directory.stat().st_uid) != 0:
        return account_of(owner)
    try:
        return account_of(pwd.getpwnam("nobody").pw_uid)
    except KeyError as error:
        raise StartError(
            "root may not run the services, and this system has no user nobody.",
            remedy=f"Give {state_directory} to an ordinary user with chown.",
        ) from error


def code_locations() -> list[Path]:
    """What a Python child has to read: the interpreter and everything it may import."""
    return [Path(sys.executable).resolve(), *(Path(entry) for entry in sys.path if Path(entry).exists())]


def become(account: Account, *, must_reach: Iterable[Path]) -> list[Path]:
    """Turn this process, started as root, into the account for good; no later program can gain rights again.

    What lies below a directory that only root may enter (a clone in /root) stays in reach: then, and only then, the
    process keeps one capability, for itself and for the children that are not launched bare: to read any file, or,
    where root lacks that one (as in containers), to read and write any file.

    Returns:
        What is reached by the capability alone; empty when all were given up.

    Raises:
        StartError: something is out of reach, and root has neither capability to give.
    """
    if account.is_current:
        return []
    _prctl(_PR_SET_KEEPCAPS, 1)
    _set_ids(account)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    # access(2) answers for the bare user until a capability is kept.
    hidden = [path for path in must_reach if not os.access(path, os.R_OK)]
    if not hidden:
        surrender()
    elif not any(_keep_capability(number) for number in (_CAP_DAC_READ_SEARCH, _CAP_DAC_OVERRIDE)):
        raise StartError(
            f"The services run as {account.name}, who may not reach {hidden[0]}.",
            remedy="Install iotide where everyone may read it, for instance below /opt, and choose a state directory"
            " that this user can enter with --state, for instance /var/lib/iotide.",
        )
    leave_closed_directory()
    return hidden


def become_bare(account: Account) -> None:
    """Turn this process into the account without any capability."""
    if not account.is_current:
        _set_ids(account)
    surrender()
    leave_closed_directory()


def leave_closed_directory() -> None:
    """Change to `/` if this process may not enter its own directory, or if that was removed.

    Programs that change to their starting directory fail in such a place: initdb, uvicorn's spawned processes, shells.
    """
    try:
        os.chdir(Path.cwd())
    except OSError:
        os.chdir("/")


def surrender() -> None:
    """Give up every capability, also for the program that this process becomes next."""
    if os.geteuid() != 0:
        _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
        _set_capabilities(0)


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


def _keep_capability(number: int) -> bool:
    """Keep this capability alone, also across exec; False when this process has not got it."""
    try:
        _set_capabilities(1 << number | 1 << _CAP_SETPCAP)
        # Else access(2) would go on to answer for the bare user, and programs believe it (initdb, Alembic).
        _prctl(_PR_SET_SECUREBITS, _SECBIT_NO_SETUID_FIXUP)
        _set_capabilities(1 << number)
    except PermissionError:
        return False
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, number)
    return True


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilitySets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def _set_capabilities(mask: int) -> None:
    """Make the effective, permitted and inheritable set of this process this one (capset(2), numbers below 32)."""
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    sets = (_CapabilitySets * 2)(_CapabilitySets(mask, mask, mask), _CapabilitySets(0, 0, 0))
    if _libc.capset(ctypes.byref(header), sets) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _prctl(option: int, *values: int) -> None:
    arguments = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    if _libc.prctl(option, *arguments) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")
