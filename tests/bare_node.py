"""Host of its own root directory: this machine's programs, but its own users, /etc, /opt and /var.

Each command runs as root in a mount namespace of its own, so nothing of this machine changes.
"""

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from made_mounts import as_root

TOP: Final = Path(__file__).resolve().parents[1]
PYTHON: Final = f"/opt/python/bin/python{sys.version_info.major}.{sys.version_info.minor}"
PROGRAM: Final = "/opt/iotide-agent/bin/iotide-agent"
SERVER: Final = "/opt/iotide/bin/iotide-server"
SOURCE: Final = "/opt/source"
"""This checkout on the node: every user can read it, and no systemd unit hides it."""
_ETC: Final = ("login.defs", "nsswitch.conf", "hosts", "resolv.conf", "ld.so.cache", "ld.so.conf", "alternatives")
_DIRECTORIES: Final = (
    *("dev", "proc", "sys", "usr", "tmp", "run", "root", "etc/default", "var/lib", "opt/python", "opt/source"),
    *("local/bin", "scratch", "etc/ssl"),
)
MOUNTS: Final = """set -eu
top=$1; python=$2; root=$3; shift 3
mount --bind "$root" "$root" # as every host's root, it is a mount
for directory in usr dev proc sys etc/ssl; do mount --rbind "/$directory" "$root/$directory"; done
mount --bind "$python" "$root/opt/python"
mount --bind "$python" "$root$python" # it may search its libraries there
mount --bind "$top" "$root/opt/source"
mount --bind "$root/local" "$root/usr/local"
# The package of a developer's machine is not the node's.
packaged=$root/usr/lib/iotide-agent
if [ -d "$packaged" ]; then mount -t tmpfs tmpfs "$packaged"; fi
"""
"""Commands of a shell that mount what a node shares with this machine."""
_ENTER: Final = f'{MOUNTS}exec chroot "$root" "$@"\n'
_STARTED: Final = """#!{python}
import os, sys
sys.path[:0] = {path!r}
os.environ["PYTHONPATH"] = ":".join(sys.path[:{number}]) # for programs that this one starts
from {module} import {function}
{function}()
"""
_SYSTEMCTL: Final = """#!/bin/sh
echo "$*" >>/run/systemctl.log
for unit; do :; done
case $1 in
  is-*) grep -qx "$1 $unit" /run/systemctl.state 2>/dev/null ;;
  enable) echo "is-enabled $unit" >>/run/systemctl.state ;;
  restart) echo "is-active $unit" >>/run/systemctl.state ;;
esac
"""


BASE: Final = Path(sys.base_prefix).resolve()


class BareNode:
    """`run` is for commands of root; files of the node are below `root`."""

    def __init__(self, root: Path, *, has_agent: bool = True) -> None:
        self.root = root
        for name in (*_DIRECTORIES, str(BASE)[1:]):
            (root / name).mkdir(parents=True, exist_ok=True)
        (root / "tmp").chmod(0o1777)
        for directory in (path for path in root.rglob("*") if path.is_dir() and path.name != "tmp"):
            directory.chmod(0o755)
        for name in ("bin", "sbin", "lib", "lib64", "lib32"):
            if (Path("/") / name).exists():
                (root / name).symlink_to(f"usr/{name}")
        for name in _ETC:
            _copy(Path("/etc") / name, root / "etc" / name)
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n")
        (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
        for name in ("shadow", "gshadow"):
            (root / "etc" / name).touch()
        if has_agent:
            write_agent(root / "opt/iotide-agent-1/bin/iotide-agent")
            (root / "opt/iotide-agent").symlink_to("iotide-agent-1")

    def command(self, *command: str) -> list[str]:
        """Return the command line that runs a command of the node."""
        enter = ("unshare", "--mount", "--propagation", "private", "sh", "-c", _ENTER, "sh")
        return as_root(*enter, TOP, BASE, self.root, *command)

    def run(
        self, *command: str, typed: str = "", environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command with `typed` as standard input."""
        own = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LANG": "C.UTF-8",
        }
        return subprocess.run(
            self.command(*command),
            input=typed,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
            env={**own, **(environment or {})},
        )

    def read(self, path: str) -> str:
        return (self.root / path.lstrip("/")).read_text()

    def files(self) -> dict[str, tuple[str, int, int]]:
        """Return mode, owner and, of files, the time of the last change of what setup may create, by path."""
        found = {}
        for place in ("etc/iotide", "etc/systemd", "var/lib", "scratch", "opt", "local"):
            for path in sorted((self.root / place).rglob("*")):
                if "python" not in path.parts:
                    state = path.lstat()
                    found[f"/{path.relative_to(self.root)}"] = (
                        oct(state.st_mode),
                        state.st_uid,
                        0 if path.is_dir() else state.st_mtime_ns,
                    )
        return found

    def pretend_systemd(self) -> None:
        """Make systemd's directory, and a `systemctl` that records its calls: a container has no systemd."""
        (self.root / "run/systemd/system").mkdir(parents=True)
        _write_program(self.root / "local/bin/systemctl", _SYSTEMCTL)

    def systemctl_calls(self) -> list[str]:
        """Return the calls that changed something."""
        log = self.root / "run/systemctl.log"
        return (
            [call for call in log.read_text().splitlines() if not call.startswith(("is-", "show"))]
            if log.exists()
            else []
        )


def write_agent(program: Path) -> None:
    """Write a program that starts this checkout's agent on a bare node."""
    _write_starter(program, ("agent/node/src", "agent/wire/src"), "iotide_agent.cli", "start_agent")


def write_server(program: Path) -> None:
    """Write a program that starts this checkout's server on a bare node."""
    _write_starter(program, ("backend/src", "agent/wire/src"), "iotide_server.cli", "main")


def _write_starter(program: Path, sources: Sequence[str], module: str, function: str) -> None:
    installed = Path(sysconfig.get_path("purelib")).relative_to(TOP)
    path = [f"{SOURCE}/{source}" for source in (*sources, installed)]
    text = _STARTED.format(python=PYTHON, path=path, number=len(path), module=module, function=function)
    _write_program(program, text)


def _write_program(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    for path in (file, file.parent, file.parent.parent):
        path.chmod(0o755)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    elif source.exists():
        shutil.copyfile(source, target)


def killed_in(program: str, start: str, module: str, function: str, *, is_after: bool) -> str:
    """Return the text of a program that is killed before or after its first call of a function of a module."""
    killing = f"""
import os, {module} as module
whole = module.{function}
def killed(*given, **more):
    if {is_after}:
        whole(*given, **more)
    os.kill(os.getpid(), 9)
module.{function} = killed
{start}
"""
    return program.replace(f"\n{start}\n", killing)
