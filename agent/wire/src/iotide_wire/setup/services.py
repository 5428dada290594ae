"""System users and systemd units of a setup, and what they need of this machine."""

import grp
import os
import pwd
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Final

from iotide_wire.setup.changes import Changes, SetupError, has_content, output, program_path, succeeds
from iotide_wire.units import format_bytes

UNITS: Final = Path("/etc/systemd/system")
HIDDEN: Final = {
    "ProtectHome=no": ("/home", "/root", "/run/user"),
    "PrivateTmp=no": ("/tmp", "/var/tmp"),  # noqa: S108 - what the units hide
}
"""By setting of a unit that shows them, directories that the units' sandbox hides."""
_PACKAGED_UNITS: Final = (Path("/usr/lib/systemd/system"), Path("/lib/systemd/system"))
"""A unit of a deb or an rpm is upgraded with it."""
_SYSTEMD_RUNS: Final = Path("/run/systemd/system")


def systemd_runs() -> bool:
    return _SYSTEMD_RUNS.is_dir()


def account_of(user: str) -> pwd.struct_passwd | None:
    with suppress(KeyError):
        return pwd.getpwnam(user)
    return None


def add_user(changes: Changes, user: str) -> None:
    """Create the system user if it does not exist."""
    if account_of(user) is None:
        changes.run(
            "useradd", "--system", *_group_options(user), "--home-dir", "/nonexistent", "--shell", _nologin(), user
        )


def check_user(user: str) -> None:
    """Raise SetupError if the user does not exist and cannot be created."""
    if account_of(user) is None and program_path("useradd") is None:
        raise SetupError(f"useradd is not installed; create the system user {user} yourself, then run setup again")


def check_program(program: Path, user: str, part: str) -> None:
    """Raise SetupError if the user's unit could not start this program of `part`, such as "agent"."""
    remedy = f"install the {part} where every user may read it, such as below /opt"
    for path in (program, program.resolve(), Path(sys.executable).resolve()):
        if is_below(path, [hidden for directories in HIDDEN.values() for hidden in directories]):
            raise SetupError(f"{path} is below a directory that the {part}'s systemd unit hides; {remedy}")
        closed = next((above for above in (path, *path.parents) if not _is_open_to_all(above)), None)
        if closed is not None:
            raise SetupError(f"the user {user} may not start {path}, because {closed} is closed to it; {remedy}")


def check_space(directory: Path, needed_bytes: int) -> None:
    """Raise SetupError if the directory, or the nearest existing one above, has less space."""
    existing = next(above for above in (directory, *directory.parents) if above.exists())
    found = os.statvfs(existing)
    free_bytes = 0 if found.f_files and not found.f_ffree else found.f_frsize * found.f_bavail
    if free_bytes < needed_bytes:
        shown = f"{format_bytes(free_bytes)} free, {format_bytes(needed_bytes)} needed"
        raise SetupError(f"{existing} is almost full: {shown}; free space there, then run setup again")


def start_unit(changes: Changes, unit: str, *, is_changed: bool) -> None:
    """Enable the unit. Start it, or restart it after a change. Without systemd, do nothing."""
    if not systemd_runs():
        return
    # systemd notices files that a killed setup has written.
    is_changed = is_changed or output("systemctl", "show", "--property=NeedDaemonReload", "--value", unit) == "yes"
    if is_changed:
        changes.run("systemctl", "daemon-reload")
    if not succeeds("systemctl", "is-enabled", "--quiet", unit):
        changes.run("systemctl", "enable", unit)
    if is_changed or not succeeds("systemctl", "is-active", "--quiet", unit):
        changes.run("systemctl", "restart", unit)


def write_unit(changes: Changes, unit: str, text: str) -> bool:
    """Write a unit, unless an installed package has it with this text. Return whether it differed."""
    is_packaged = any(has_content(directory / unit, text) for directory in _PACKAGED_UNITS)
    if is_packaged and not (UNITS / unit).exists():  # systemd would prefer this one
        return False
    return changes.write(UNITS / unit, text)


def restart_enabled(changes: Changes, unit: str) -> None:
    """Restart the unit of a package after its upgrade, if it is enabled; never start another one."""
    if systemd_runs():
        changes.run("systemctl", "daemon-reload")
        if succeeds("systemctl", "is-enabled", "--quiet", unit):
            changes.run("systemctl", "restart", unit)


def is_below(path: PurePath, directories: Sequence[str]) -> bool:
    return any(path.is_relative_to(directory) for directory in directories)


def _group_options(user: str) -> tuple[str, ...]:
    with suppress(KeyError):
        return ("--gid", grp.getgrnam(user).gr_name)
    return ("--user-group",)


def _nologin() -> str:
    return next((shell for shell in ("/usr/sbin/nologin", "/sbin/nologin") if Path(shell).exists()), "/bin/false")


def _is_open_to_all(path: Path) -> bool:
    return bool(path.stat().st_mode & stat.S_IXOTH)
