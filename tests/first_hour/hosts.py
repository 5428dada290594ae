"""Clean Debian hosts on this machine: each has a root directory, a systemd and a network, joined by a bridge."""

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

SUITE: Final = "trixie"
"""Debian 13."""
_PACKAGES: Final = "ca-certificates,iproute2,procps,systemd,systemd-sysv"
"""Packages of every installed host; the README's commands install the rest, and are counted."""
_ABSENT: Final = ("git", "node", "npm", "uv", "python3", "pip", "pipx", "curl")
"""A clean host has none of these programs."""
_SCRATCH: Final = "scratch"
"""The storage to be measured: every host has it."""
_MASKED: Final = ("timers.target", "systemd-sysctl.service", "systemd-modules-load.service", "console-getty.service")
"""Units that would change settings of this machine's kernel, or start work of their own."""
_PASSED_ON: Final = re.compile(r"^(PIP_|UV_|NPM_|NODE_EXTRA_|SSL_|REQUESTS_CA|.*_proxy$)", re.IGNORECASE)
_SETTINGS: Final = (
    "/etc/pip.conf",
    "/etc/npmrc",
    "/root/.npmrc",
    "/etc/uv/uv.toml",
    "/usr/local/share/ca-certificates",
)
"""This machine's access to package sources; a host of the same site has it too."""
_OWN_COMMAND: Final = re.compile(r"^curl|(^|\| )iotide")
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Root's, as in Debian's /etc/profile."""
CGROUPS: Final = "IOTIDE_FIRST_HOUR_CGROUPS"
"""Variable with a key of this walk, for the names of its cgroups."""
_TERMINAL: Final = "/tmp/terminal"  # noqa: S108 - of the host, not of this machine
"""State of a terminal between lines: its directory and its exported variables."""
_BRIDGE: Final = "fh-bridge"
_NETWORK: Final = "10.77.3"
_NAMESPACES: Final = ("--mount", "--uts", "--ipc", "--pid")
_BOOT_SECONDS: Final = 120.0
_BOOT: Final = """set -eu
cd "$1"
mount -t proc proc proc
mount --bind -o ro proc/sys proc/sys
mount --bind /proc/sys/vm/drop_caches proc/sys/vm/drop_caches
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
for own in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs $own; done
chmod 1777 tmp
mkdir dev/shm dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for name in null zero full random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
mount --bind scratch scratch
pivot_root . mnt
umount -l mnt
exec env -i container=iotide PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 /lib/systemd/systemd
"""
"""The root becomes that of systemd. Of this machine's kernel settings it can use only the one of the page cache."""


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
    """A booted host; `type` runs its commands, `answer` those that ask, and `leave_running` foreground programs."""

    def __init__(self, name: str, number: int, root: Path, outside: Outside) -> None:
        self.name = name
        self.address = f"{_NETWORK}.{number}"
        self.root = root
        self.typed: list[Command] = []
        self._outside = outside
        self._network = f"fh{number}"
        self._cgroup = _cgroup_root() / f"{_BRIDGE}-{os.environ[CGROUPS]}-{number}"
        self._join()
        # A separate mount, as every host's root is.
        run("mount", "--bind", root, root)
        for name_of_unit in _MASKED:
            (root / "etc/systemd/system" / name_of_unit).symlink_to("/dev/null")
        (root / _SCRATCH).mkdir()
        (root / "etc/hostname").write_text(f"{name}\n")
        (root / "etc/resolv.conf").write_bytes(Path("/etc/resolv.conf").read_bytes())
        places = [root / place[1:] for place in _PATH.split(":")]
        found = [program for program in _ABSENT if any((place / program).exists() for place in places)]
        if found:
            raise SystemExit(f"{name}: a clean host has no {', '.join(found)}")
        self._outer = self._boot()

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
        run(*self._enter(), "rm", "-f", _TERMINAL)
        return found[0]

    def answer(self, line: str, questions: Sequence[tuple[str, Callable[[str], str]]], *, seconds: float = 300) -> str:
        """Run one line in a terminal. At each pattern that it prints, in this order, type what its function returns.

        Raises:
            SystemExit: it failed, or took longer than `seconds`.
        """
        began = time.monotonic()
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            self._argv(line), stdin=theirs, stdout=theirs, stderr=theirs, env=_environment(),
            pass_fds=self._outside.kept, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        printed, seen, waiting = "", 0, list(questions)
        while (chunk := _read(ours, began + seconds)) is not None:
            printed += chunk
            while waiting and (found := re.compile(waiting[0][0]).search(printed, seen)):
                seen = found.end()
                os.write(ours, waiting.pop(0)[1](found[0]).encode())
        os.close(ours)
        self.typed.append(Command(self.name, line, time.monotonic() - began))
        if process.wait(10) != 0 or waiting:
            raise SystemExit(f"{self.name}: {line}: exit status {process.returncode}\n{printed}")
        return printed

    def shut_down(self) -> None:
        """End all processes of the host at once."""
        os.kill(self._first_process(), signal.SIGKILL)
        self._outer.wait(60)

    def _boot(self) -> subprocess.Popen[bytes]:
        (self.root / "mnt").mkdir(exist_ok=True)
        self._cgroup.mkdir()
        # A cgroup namespace begins at the cgroup that its first process is in.
        join = ("sh", "-c", 'echo $$ >"$0/cgroup.procs"; exec unshare --cgroup "$@"', self._cgroup)
        enter = ("unshare", *_NAMESPACES, "--fork", "--kill-child", "--propagation=private")
        network = ("nsenter", f"--net=/run/netns/{self._network}")
        log = self.root.with_name(f"{self.name}.boot.log")
        with log.open("wb") as file:
            outer = subprocess.Popen(
                [*network, *join, *enter, "sh", "-c", _BOOT, "sh", self.root], stdout=file, stderr=file
            )
        self._outer = outer
        deadline = time.monotonic() + _BOOT_SECONDS
        running = ["systemctl", "is-system-running"]
        while True:
            asked = subprocess.run([*self._enter(), *running], capture_output=True, text=True, check=False)
            if asked.stdout.strip() in {"running", "degraded"}:
                return outer
            if outer.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{self.name} did not boot: {asked.stdout}{asked.stderr}{log.read_text()}")
            time.sleep(0.2)  # between two looks at another system

    def _first_process(self) -> int:
        children = Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children").read_text().split()
        return int(children[0]) if children else self._outer.pid

    def _enter(self, *network: str) -> tuple[str | Path, ...]:
        target = f"--target={self._first_process()}"
        return ("nsenter", target, *_NAMESPACES, "--cgroup", *network, "--root", "--wdns=/")

    def _start(self, line: str, output: IO[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._argv(line), stdout=output, stderr=subprocess.STDOUT, env=_environment(), pass_fds=self._outside.kept
        )

    def _argv(self, line: str) -> Sequence[str | Path]:
        """Run iotide's own commands in the host's network, and all other commands, which install, in that of package
        sources.
        """
        is_own = _OWN_COMMAND.search(line) is not None
        network = f"--net=/run/netns/{self._network}" if is_own else f"--net=/proc/self/fd/{self._outside.kept[0]}"
        before = f"if [ -e {_TERMINAL} ]; then . {_TERMINAL}; else cd; fi"
        after = f"status=$?; {{ export -p; printf 'cd %q\\n' \"$PWD\"; }} >{_TERMINAL}; exit $status"
        return (*self._enter(network), "bash", "-c", f"{before}\n{line}\n{after}")

    def _join(self) -> None:
        """Join a separate network with an address on the bridge."""
        run("ip", "netns", "add", self._network)
        run("ip", "link", "add", self._network, "type", "veth", "peer", "name", "eth0", "netns", self._network)
        run("ip", "link", "set", self._network, "master", _BRIDGE, "up")
        for words in (
            ("address", "add", f"{self.address}/24", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
            ("link", "set", "lo", "up"),
        ):
            run("ip", "-n", self._network, *words)


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


def remove_cgroups(key: str) -> None:
    """Remove the cgroups of ended hosts, whose processes had CGROUPS=`key` in their environment."""
    for top in _cgroup_root().glob(f"{_BRIDGE}-{key}-*"):
        for directory in sorted(top.rglob("*"), reverse=True):
            if directory.is_dir():
                directory.rmdir()
        top.rmdir()


def run(*argv: str | Path) -> None:
    """Run a program of this machine.

    Raises:
        SystemExit: it failed; its error output is printed.
    """
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, argv))}: {done.stdout}{done.stderr}")


def _cgroup_root() -> Path:
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    return next(Path(words[1]) for words in mounts if words[2] == "cgroup2")


def _read(terminal: int, deadline: float) -> str | None:
    """Return what was printed next; None at the end. Raise SystemExit at the deadline."""
    if not select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
        raise SystemExit("a command that asks questions did not end in time")
    try:
        return os.read(terminal, 65_536).decode(errors="replace") or None
    except OSError:  # all programs have closed it
        return None


def _environment() -> dict[str, str]:
    passed_on = {name: value for name, value in os.environ.items() if _PASSED_ON.match(name)}
    return {**passed_on, "HOME": "/root", "PATH": _PATH, "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
