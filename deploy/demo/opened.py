"""Starts a program as root such that ordinary users can read this checkout and its Python, wherever they are.

    python opened.py --state DIRECTORY -- COMMAND...

`iotide-server up` switches to an ordinary user without privileges. In development its code is often below a directory
that only root can access, such as /root. The program gets a mount namespace where such a directory contains only the
code and the state directory. For development only: installations are readable by all users.
"""

import argparse
import ctypes
import os
import pwd
import stat
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
_CLONE_NEWNS: Final = 0x0002_0000
_MS_BIND: Final = 0x1000
_MS_REC: Final = 0x4000
_MS_SLAVE: Final = 1 << 19
_MNT_DETACH: Final = 2
_FOR_ALL: Final = stat.S_IROTH | stat.S_IXOTH

_libc = ctypes.CDLL(None, use_errno=True)


class Shown(StrEnum):
    """How a path appears in the mount namespace: as an empty cover, a directory or link on the way, or itself."""

    COVER = "cover"
    DIRECTORY = "directory"
    LINK = "link"
    ITSELF = "itself"


def opened_command(command: Sequence[str], *, state: Path) -> list[str]:
    """Return the command line that starts the command this way, in the same process.

    Args:
        state: the command's state directory; see `lend`.
    """
    return [sys.executable, "-P", __file__, "--state", str(state), "--", *command]


def lend(directory: Path) -> Path:
    """Create a state directory, or take an empty one, and as root make `unprivileged` its owner.

    `iotide-server up` runs as the owner, so no user has to be created.
    """
    directory.mkdir(mode=0o700, exist_ok=True)
    if os.geteuid() == 0 and directory.stat().st_uid == 0 and not any(directory.iterdir()):
        unprivileged = pwd.getpwnam("nobody")
        os.chown(directory, unprivileged.pw_uid, unprivileged.pw_gid)
    return directory


def open_up(code: Iterable[Path], state: Path) -> None:
    """Move this process to a mount namespace where all users can read the code and reach the state directory.

    Raises:
        OSError: root may not mount here.
    """
    plan: dict[Path, Shown] = {}
    code = list(code)
    for path in code:
        _plan(path, plan, for_all=True)
    _plan(state, plan, for_all=False)
    if not plan:
        return
    _check(_libc.unshare(_CLONE_NEWNS), "unshare")
    _mount("", Path("/"), "", _MS_REC | _MS_SLAVE)
    _let_go_of_loops([*code, state])
    # Open the directories after entering the namespace, so that they belong to it, and before they are covered.
    bound = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path, shown in plan.items() if shown is Shown.ITSELF}
    links = {path: path.readlink() for path, shown in plan.items() if shown is Shown.LINK}
    for path, shown in sorted(plan.items()):
        match shown:
            case Shown.COVER:
                _mount("tmpfs", path, "tmpfs", 0, "mode=755")
            case Shown.DIRECTORY:
                path.mkdir(mode=0o755)
            case Shown.LINK:
                path.symlink_to(links[path])
            case Shown.ITSELF:
                source = Path(f"/proc/self/fd/{bound[path]}")
                if source.is_dir():
                    path.mkdir()
                else:
                    path.touch()
                _mount(str(source), path, "", _MS_BIND | _MS_REC)


def _plan(path: Path, plan: dict[Path, Shown], *, for_all: bool) -> None:
    """Add what lets every user reach the path and, if it is for all, read it."""
    path = Path(os.path.abspath(path))  # noqa: PTH100 - links on the way are included
    is_hidden = False
    for part in (*reversed(path.parents), path):
        if plan.get(part) is Shown.ITSELF:
            return
        is_hidden = is_hidden or part in plan
        if part.is_symlink():
            if is_hidden:
                plan[part] = Shown.LINK
            _plan(part.parent / part.readlink() / path.relative_to(part), plan, for_all=for_all)
            return
        mode = part.stat().st_mode
        if part == path and for_all and mode & _FOR_ALL != _FOR_ALL:
            plan[part] = Shown.DIRECTORY if is_hidden else Shown.COVER
            for entry in sorted(path.iterdir()):
                plan.setdefault(entry, Shown.LINK if entry.is_symlink() else Shown.ITSELF)
            return
        if part == path:
            if is_hidden:
                plan[part] = Shown.ITSELF
        elif is_hidden or not mode & stat.S_IXOTH:
            plan.setdefault(part, Shown.DIRECTORY if is_hidden else Shown.COVER)
            is_hidden = True


def _let_go_of_loops(wanted: Iterable[Path]) -> None:
    """Unmount loop devices of tests or the gallery from this namespace, so that they can be recreated."""
    kept = {parent for path in wanted for parent in (path, *path.parents)}
    for line in reversed(Path("/proc/self/mountinfo").read_text().splitlines()):
        words, _, (_, source, *_) = (part.split() for part in line.partition(" - "))
        mount_point = Path(words[4].encode().decode("unicode_escape"))
        if source.startswith("/dev/loop") and mount_point not in kept:
            _libc.umount2(os.fsencode(mount_point), _MNT_DETACH)


def _mount(source: str, target: Path, kind: str, flags: int, options: str = "") -> None:
    words = [word.encode() or None for word in (source, str(target), kind)]
    _check(_libc.mount(*words, ctypes.c_ulong(flags), options.encode() or None), f"mount {target}")


def _check(result: int, what: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def _code() -> list[Path]:
    """Return the checkout, the environment and its Python, by each link that leads to them."""
    found = [ROOT, Path(sys.prefix), Path(sys.base_prefix)]
    link = Path(sys.executable)
    while link.is_symlink():
        link = link.parent / link.readlink()
        found.append(link.parent.parent)
    return found


def main() -> None:
    """Replace this process by the program on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    state = lend(options.state)
    if os.geteuid() == 0:
        try:
            open_up(_code(), state)
        except OSError as error:
            sys.exit(f"opened: {error}. Make {ROOT} and {sys.base_prefix} readable for all users, or use another user")
    os.execvp(options.command[0], options.command)  # noqa: S606 - must not use a shell


if __name__ == "__main__":
    main()
