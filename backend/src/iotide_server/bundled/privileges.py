"""User of the services: root permanently becomes an ordinary user.

Standard library only, because `launch` runs this in every child.
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

USER: Final = "iotide"  # if root starts the services and owns the state directory

_PR_SET_PDEATHSIG = 1
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_MOST_CAPABILITIES = 64
_CAPABILITY_VERSION_3 = 0x20080522

_INSTALL_OPENLY: Final = """\
Install iotide where every user can read it, from its checkout, and start it again:
    export UV_TOOL_DIR=/opt/iotide/tools UV_PYTHON_INSTALL_DIR=/opt/iotide/python UV_TOOL_BIN_DIR=/usr/local/bin
    uv tool install --force './backend[embedded]' --with ./agent/wire"""

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    gid: int

    @property
    def is_named(self) -> bool:
        return not self.name.isdigit()

    @property
    def is_current(self) -> bool:
        return os.geteuid() == self.uid


def account_of(uid: int) -> Account:
    """Return the user, even if unknown to the user database (containers)."""
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return Account(name=str(uid), uid=uid, gid=os.getegid() if uid == os.geteuid() else uid)
    return Account(name=entry.pw_name, uid=uid, gid=entry.pw_gid)


def choose_account(state_directory: Path) -> Account:
    """Return the caller, or for root the directory's owner or `iotide`. Raise StartError."""
    if os.geteuid() != 0:
        return account_of(os.geteuid())
    if state_directory.exists() and (owner := state_directory.stat().st_uid) != 0:
        return account_of(owner)
    try:
        return account_of(pwd.getpwnam(USER).pw_uid)
    except KeyError as error:
        raise StartError(
            f"the services cannot run as root, and this system has no user {USER}.",
            remedy=f"Create it: useradd --system --home-dir /nonexistent --shell /usr/sbin/nologin {USER}\n"
            f"Or make another ordinary user the owner of {state_directory} with chown.",
        ) from error


def code_locations() -> list[Path]:
    interpreter = Path(sys.executable)
    return [interpreter, interpreter.resolve(), *(Path(entry) for entry in sys.path if Path(entry).exists())]


def become(account: Account, *, code: Iterable[Path] = (), state: Path | None = None) -> None:
    """Become the account permanently. Raise StartError if it cannot read `code` or use `state`."""
    if not account.is_current:
        _drop_bounding_set()
        _set_ids(account)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    surrender()
    for path in code:
        if not os.access(path, os.R_OK):
            raise StartError(f"The services run as {account.name}, which cannot read {path}.", remedy=_INSTALL_OPENLY)
    if state is not None and not os.access(state, os.R_OK | os.W_OK | os.X_OK):
        raise StartError(
            f"The services run as {account.name}, which cannot access {state}.",
            remedy="Choose a state directory that this user can access with --state, for instance /var/lib/iotide.",
        )
    leave_closed_directory()


def leave_closed_directory() -> None:
    """Change to `/` if the working directory is inaccessible, where initdb and shells would fail."""
    try:
        os.chdir(Path.cwd())
    except OSError:
        os.chdir("/")


def surrender() -> None:
    """Drop all capabilities, also for executed programs."""
    if os.geteuid() != 0:
        _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
        _clear_capabilities()


def die_with_parent(parent_pid: int, signal_number: int) -> None:
    """Receive the signal when the parent ends. Exit if it has already ended."""
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
    for number in range(_MOST_CAPABILITIES):
        if _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(number), *[ctypes.c_ulong(0)] * 3) != 0:
            return


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilitySets(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def _clear_capabilities() -> None:
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    sets = (_CapabilitySets * 2)()
    held = (_CapabilitySets * 2)()
    if _libc.capget(ctypes.byref(header), held) == 0 and bytes(held) == bytes(sets):
        return  # the system call filter of a unit forbids capset
    if _libc.capset(ctypes.byref(header), sets) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _prctl(option: int, *values: int) -> None:
    arguments = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    if _libc.prctl(option, *arguments) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")
