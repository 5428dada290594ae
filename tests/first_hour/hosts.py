"""Two clean Debian hosts on this machine: a root directory and a network namespace each, joined by a bridge."""

import os
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

SUITE: Final = "trixie"
"""Debian 13: its own Python and Node are new enough for the README's commands."""
_PACKAGES: Final = "ca-certificates,iproute2,procps"
"""Packages of every installed host; the README's commands install the rest, and are counted."""
_PASSED_ON: Final = re.compile(r"^(PIP_|UV_|NPM_|NODE_EXTRA_|SSL_|REQUESTS_CA|.*_proxy$)", re.IGNORECASE)
_SETTINGS: Final = (
    "/etc/pip.conf",
    "/etc/npmrc",
    "/root/.npmrc",
    "/etc/uv/uv.toml",
    "/usr/local/share/ca-certificates",
)
"""This machine's access to package sources; a host of the same site has it too."""
_OWN_COMMAND: Final = re.compile(r"(^|\| )iotide")
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Root's, as in Debian's /etc/profile."""
_TERMINAL: Final = "/tmp/terminal"  # noqa: S108 - of the host, not of this machine
"""State of a terminal between lines: its directory and its exported variables."""
_BRIDGE: Final = "fh-bridge"
_NETWORK: Final = "10.77.3"


@dataclass(frozen=True, slots=True)
class Command:
    """One typed line.

    Attributes:
        seconds: until its prompt came back; for a foreground program, until the expected output.
    """

    host: str
    line: str
    seconds: float


class Outside:
    """The network in which this program was started; only it reaches package sources."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @property
    def enter(self) -> tuple[str, ...]:
        """Return the command that runs a program there."""
        return ("nsenter", f"--net=/proc/self/fd/{self._descriptor}")

    @property
    def kept(self) -> tuple[int, ...]:
        """Return the file descriptors that such a program inherits."""
        return (self._descriptor,)


class Host:
    """One of the two hosts; `type` runs its commands, and `leave_running` its foreground programs."""

    def __init__(self, name: str, number: int, root: Path, outside: Outside, typed: list[Command]) -> None:
        self.name = name
        self.address = f"{_NETWORK}.{number}"
        self.root = root
        self._outside = outside
        self.typed = typed
        self._join(number)
        # A separate mount, as every host's root is.
        run("mount", "--bind", root, root)
        for source in ("/proc", "/dev", "/sys"):
            run("mount", "--rbind", source, root / source[1:])
        # Separate: files of other programs on this machine do not belong to a clean host.
        for own in ("tmp", "run", "dev/shm"):
            run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", root / own)
        (root / "etc/hostname").write_text(f"{name}\n")
        (root / "etc/resolv.conf").write_bytes(Path("/etc/resolv.conf").read_bytes())

    def type(self, line: str, *, seconds: float = 900) -> str:
        """Run one line as root would in a shell, and return its output.

        Raises:
            SystemExit: it failed, or took longer than `seconds`.
        """
        began = time.monotonic()
        done = subprocess.run(
            self._argv(line), capture_output=True, text=True, check=False, timeout=seconds, env=_environment(),
            pass_fds=self._outside.kept,
        )  # fmt: skip
        self.typed.append(Command(self.name, line, time.monotonic() - began))
        if done.returncode != 0:
            raise SystemExit(f"{self.name}: {line}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def leave_running(self, line: str, until: str, *, seconds: float = 180) -> str:
        """Run one line that keeps its terminal, until its output matches `until`; the next line has a new terminal.

        Raises:
            SystemExit: it ended first, or did not print that within `seconds`.
        """
        began = time.monotonic()
        log = self.root / "root" / f"{line.split(maxsplit=1)[0]}.log"
        with log.open("w") as file:
            process = self._start(line, file)
        while not (found := re.search(until, log.read_text())):
            if process.poll() is not None or time.monotonic() - began > seconds:
                raise SystemExit(f"{self.name}: {line}: never printed {until!r}\n{log.read_text()}")
            time.sleep(0.1)
        self.typed.append(Command(self.name, line, time.monotonic() - began))
        (self.root / _TERMINAL[1:]).unlink(missing_ok=True)
        return found[0]

    def _start(self, line: str, output: IO[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._argv(line), stdout=output, stderr=subprocess.STDOUT, env=_environment(), pass_fds=self._outside.kept
        )

    def _argv(self, line: str) -> Sequence[str | Path]:
        """Run iotide's own commands in the host's network, and all other commands, which install, in that of package
        sources.
        """
        is_own = _OWN_COMMAND.search(line) is not None
        network = ("ip", "netns", "exec", self.name) if is_own else self._outside.enter
        # Without a terminal, and without this program's own environment.
        within = ("unshare", "--uts", "chroot", self.root, "bash", "-c")
        before = f"hostname {self.name}; if [ -e {_TERMINAL} ]; then . {_TERMINAL}; else cd; fi"
        after = f"status=$?; {{ export -p; printf 'cd %q\\n' \"$PWD\"; }} >{_TERMINAL}; exit $status"
        return (*network, *within, f"{before}\n{line}\n{after}")

    def _join(self, number: int) -> None:
        """Join a separate network with an address on the bridge."""
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", f"fh{number}", "type", "veth", "peer", "name", "eth0", "netns", self.name)
        run("ip", "link", "set", f"fh{number}", "master", _BRIDGE, "up")
        for words in (
            ("address", "add", f"{self.address}/24", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
            ("link", "set", "lo", "up"),
        ):
            run("ip", "-n", self.name, *words)


def make_bridge() -> None:
    """Connect the hosts with this program, which acts as the administrator's desktop."""
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", _BRIDGE, "type", "bridge")
    run("ip", "address", "add", f"{_NETWORK}.254/24", "dev", _BRIDGE)
    run("ip", "link", "set", _BRIDGE, "up")


def clean_debian(archive: Path, outside: Outside) -> None:
    """Make the archive from which both hosts are unpacked, unless it exists."""
    if archive.exists():
        return
    archive.parent.mkdir(parents=True, exist_ok=True)
    sources = archive.with_name("debian.sources")
    here = Path("/etc/apt/sources.list.d/debian.sources")
    own = here.read_text() if here.exists() else ""
    sources.write_text(re.sub(r"\bbookworm\b", SUITE, own))
    draft = archive.with_name("draft.tar")
    argv: list[str | Path] = [
        "mmdebstrap",
        "--quiet",
        "--mode=root",
        "--variant=minbase",
        f"--include={_PACKAGES}",
        SUITE,
        draft,
    ]
    if own:
        argv.append(sources)
    subprocess.run([*outside.enter, *argv], check=True, pass_fds=outside.kept)
    draft.rename(archive)


def unpack(archive: Path, root: Path) -> None:
    """Unpack a clean root directory, with this site's access to package sources."""
    root.mkdir(parents=True)
    run("tar", "--extract", "--file", archive, "--directory", root)
    for setting in filter(os.path.exists, _SETTINGS):
        copy = root / setting[1:]
        copy.parent.mkdir(parents=True, exist_ok=True)
        run("cp", "-aT", setting, copy)
    for settings in Path("/etc/apt/apt.conf.d").glob("99*"):
        (root / "etc/apt/apt.conf.d" / settings.name).write_bytes(settings.read_bytes())
    run("chroot", root, "update-ca-certificates")


def run(*argv: str | Path) -> None:
    """Run a program of this machine.

    Raises:
        SystemExit: it failed; its error output is printed.
    """
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, argv))}: {done.stdout}{done.stderr}")


def _environment() -> dict[str, str]:
    passed_on = {name: value for name, value in os.environ.items() if _PASSED_ON.match(name)}
    return {**passed_on, "HOME": "/root", "PATH": _PATH, "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
