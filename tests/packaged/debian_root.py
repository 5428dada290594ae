"""Minimal Debian systems without Python, each a root directory on this machine."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packages.own_python import GLIBC, debian_mirror
from packages.program_tree import elf_files, newest_symbol

PROGRAM: Final = "/usr/bin/iotide-agent"
CONFIG: Final = "/etc/iotide/agent.toml"
AGENT: Final = "iotide-agent"
"""The user, and the package."""
_ENTER: Final = 'hostname "$1"; shift; exec chroot "$@"'
_ENVIRONMENT: Final = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}


class PackageTestError(Exception):
    """A package did not do what it promises, or a test cannot begin; the text says which."""


def require(holds: object, otherwise: str) -> None:
    """Raise PackageTestError unless something holds."""
    if not holds:
        raise PackageTestError(otherwise)


def check_symbols(tree: Path) -> str:
    """Return the newest version of the C library that a tree needs; raise PackageTestError if it is too new."""
    files = list(elf_files(tree))
    newest = max(newest_symbol(path) for path in files)
    require(newest <= GLIBC, f"{tree} needs glibc {newest}")
    return f"{newest[0]}.{newest[1]} in {len(files)} files"


def make_archive(suite: str, archive: Path, packages: Sequence[str] = ()) -> None:
    """Make the archive of a minimal system with more packages, unless it exists.

    Raises:
        PackageTestError: The mirror of this machine's apt does not have this release.
    """
    if archive.exists():
        return
    archive.parent.mkdir(parents=True, exist_ok=True)
    draft = archive.with_name(f"{archive.name}.new.tar")
    more = [f"--include={','.join(packages)}"] if packages else []  # an empty list is an error
    command = ("mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", *more)
    done = subprocess.run([*command, suite, draft, debian_mirror()], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PackageTestError(
            f"{suite} cannot be installed from {debian_mirror()}: {done.stderr.strip()[-1000:]}. Name a mirror that "
            "has this release in this machine's apt sources"
        )
    draft.rename(archive)


@dataclass(frozen=True, slots=True)
class DebianRoot:
    """Hold one system; `run` is for commands of root."""

    name: str
    root: Path

    @classmethod
    def unpack(cls, suite: str, archive: Path, root: Path) -> "DebianRoot":
        """Unpack a system, with this machine's kernel and devices."""
        root.mkdir(parents=True)
        subprocess.run(["tar", "--extract", "--file", archive, "--directory", root], check=True)
        # A mount, as every system's root is: the agent looks for the file system of a directory.
        subprocess.run(["mount", "--bind", root, root], check=True)
        for source in ("/proc", "/dev", "/sys"):
            subprocess.run(["mount", "--rbind", source, root / source[1:]], check=True)
        for own in ("tmp", "run", "dev/shm"):
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", root / own], check=True)
        (root / "scratch").mkdir(mode=0o755)
        (root / "srv/packages").mkdir(mode=0o755)
        return cls(suite, root)

    @property
    def release(self) -> str:
        """Return the version of this Debian, such as 12.5."""
        return self.path("/etc/debian_version").read_text().strip()

    def bring(self, file: Path) -> str:
        """Copy a file to the system, and return its path there."""
        shutil.copy(file, self.path("/srv/packages"))
        return f"/srv/packages/{file.name}"

    def path(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def command(self, *command: str) -> list[str]:
        """Return the command line that runs a command of this system."""
        return ["unshare", "--uts", "sh", "-c", _ENTER, "sh", self.name, str(self.root), *command]

    def run(self, *command: str, typed: str = "", statuses: Sequence[int] = (0,)) -> str:
        """Run a command, and return what it printed.

        Raises:
            PackageTestError: It ended with another status.
        """
        done = subprocess.run(
            self.command(*command), input=typed, capture_output=True, text=True, check=False, env=_ENVIRONMENT,
            timeout=600,
        )  # fmt: skip
        if done.returncode not in statuses:
            raise PackageTestError(
                f"{self.name}: `{' '.join(command)}` ended with status {done.returncode}:\n{done.stdout}{done.stderr}"
            )
        return done.stdout + done.stderr

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command that continues, with its output in a file below /var/log."""
        with self.path("/var/log/agent.log").open("ab") as log:
            return subprocess.Popen(self.command(*command), stdout=log, stderr=log, env=_ENVIRONMENT)

    def user(self, name: str) -> tuple[int, int] | None:
        """Return the ids of a user, or None."""
        for line in self.path("/etc/passwd").read_text().splitlines():
            found, _, uid, gid, *_ = line.split(":")
            if found == name:
                return int(uid), int(gid)
        return None

    def left_over(self) -> list[str]:
        """Return the paths whose name has `iotide`, except of runs' directories and logs, and mentions of the user."""
        paths = [
            f"/{path.relative_to(self.root)}"
            for top in ("etc", "usr", "var", "lib", "opt", "root", "home")
            for path in self.path(top).rglob("*iotide*")
            if "var/log" not in str(path)
        ]
        users = [
            file for file in ("/etc/passwd", "/etc/group", "/etc/shadow") if "iotide" in self.path(file).read_text()
        ]
        return [*paths, *users]
