"""Runner of iotide's agent on file systems that no container has: a virtual machine's, and GlusterFS on this machine.

Usage: python tests/lab/lab.py, as root. Exit status 0 when every scenario passed. The machine is built once below
.dev/lab and again after a change of its recipe; its disks are made again at each start.
"""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Timer
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
OWN: Final = Path(__file__).parent
BUILT: Final = ROOT / ".dev/lab"
RECIPE: Final = (OWN / "build-vm.sh", OWN / "vm-init.sh")
GUEST_PYTHON: Final = "3.11"
"""Of the machine's Debian; the agent's packages are built for it, whichever Python runs this file."""
GUEST_TESTS: Final = ("pyproject.toml", "tests/agent/made_orders.py", "tests/agent/order_rig.py", "tests/lab")
GUEST_RUN: Final = """\
export PYTHONPATH=/lab/packages:/lab/tests PYTHONPYCACHEPREFIX=/tmp/bytecode PATH=/lab/packages/bin:$PATH
exec python3 -m pytest {arguments} tests/lab/inside
"""
PYTEST: Final = (
    "-q",
    "--color=no",
    "--confcutdir=tests/lab",
    "--timeout=600",
    "--durations=0",
    "--no-summary",
    "-p",
    "no:cacheprovider",
)
DISKS: Final = 3
DISK_BYTES: Final = 1024**3
LIMIT_SECONDS: Final = 1800
"""Limit for a machine that hangs; on two idle CPUs everything takes a third of it."""
_SCENARIO: Final = re.compile(r"^scenario: (passed|failed|skipped) ")
_EXIT: Final = re.compile(r"^lab-exit: (\d+)$")
_KVM_FLAGS: Final = re.compile(r"^flags\b.*\b(vmx|svm)\b", re.MULTILINE)


class Tally:
    """Counts of passed and failed scenarios, from the lines that they print."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self._failed_before = 0

    def take(self, line: str) -> None:
        """Print a line and count it."""
        sys.stdout.write(line)
        sys.stdout.flush()
        scenario = _SCENARIO.match(line)
        if scenario:
            self.passed += scenario[1] == "passed"
            self.failed += scenario[1] != "passed"

    def end(self, went_well: bool) -> None:  # noqa: FBT001 - the name explains it
        """End a part; one that failed without a failed scenario, as at collection, counts as one."""
        self.failed += not went_well and self.failed == self._failed_before
        self._failed_before = self.failed


def build_machine() -> None:
    """Make the machine's kernel and root disk, unless they match the recipe."""
    stamp = BUILT / "recipe.sha256"
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in RECIPE)).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    say("building the virtual machine, once; a few minutes")
    BUILT.mkdir(parents=True, exist_ok=True)
    subprocess.run([OWN / "build-vm.sh", BUILT], check=True)
    stamp.write_text(digest)


def install_agent(directory: Path, *more: str) -> None:
    """Put the agent, pytest, the scenarios and `more` into a directory, as wheels for the machine's Python."""
    locked = directory / "locked.txt"
    uv("export", "--quiet", "--frozen", "--all-packages", "--no-emit-workspace", "--no-hashes", "--output-file", locked)
    what = (ROOT / "agent/wire", ROOT / "agent/node", "pytest", "pytest-timeout")
    guest = ("--python-version", GUEST_PYTHON, "--python-platform", "x86_64-unknown-linux-gnu")
    # Built as wheels from the present sources: uv would link the sources, and reuse an older wheel.
    rebuilt = ("--no-sources", "--refresh-package=iotide-wire", "--refresh-package=iotide-agent")
    constrained = ("--quiet", "--constraints", locked)
    uv("pip", "install", "--target", directory / "packages", *guest, *rebuilt, *constrained, *what)
    for name in (*GUEST_TESTS, *more):
        source, copy = ROOT / name, directory / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)


def uv(*arguments: str | Path) -> None:
    """Run uv on the project."""
    subprocess.run(["uv", *arguments], cwd=ROOT, check=True)


def disk_of(directory: Path, image: Path) -> Path:
    """Make a file system with the files of a directory."""
    used_bytes = sum(file.lstat().st_size for file in directory.rglob("*"))
    with image.open("wb") as file:
        file.truncate(2 * used_bytes + 64 * 1024**2)
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", "-O", "^has_journal", "-d", directory, image], check=True)
    return image


def machine(work: Path, disks: Mapping[Path, str]) -> list[str]:
    """Return the command of the virtual machine: its own root disk as a throw-away copy, then the given ones.

    `disks` has serial numbers by image; the first one is read-only.
    """
    has_kvm = os.access("/dev/kvm", os.W_OK) and _KVM_FLAGS.search(Path("/proc/cpuinfo").read_text()) is not None
    say("booting the virtual machine " + ("on KVM" if has_kvm else "under emulation, since KVM cannot be used here"))
    words = "root=/dev/vda rw init=/usr/sbin/lab-init console=ttyS0 net.ifnames=0 mitigations=off panic=-1"
    command = [
        *("qemu-system-x86_64", "-accel", "kvm" if has_kvm else "tcg,thread=multi", "-cpu", "max", "-smp", "2"),
        *("-m", "2048", "-nodefaults", "-display", "none", "-no-reboot", "-append", words),
        *("-kernel", str(BUILT / "vmlinuz"), "-initrd", str(BUILT / "initrd.img")),
        *("-serial", f"file:{work / 'console.log'}", "-serial", "stdio"),
        *_drive("root", f"file={BUILT / 'root.img'},snapshot=on"),
    ]
    for number, (disk, serial) in enumerate(disks.items()):
        read_only = "on" if number == 0 else "off"
        command += _drive(f"disk{number}", f"file={disk},cache=unsafe,readonly={read_only}", serial)
    return command


def _drive(name: str, options: str, serial: str = "") -> tuple[str, ...]:
    device = f"virtio-blk-pci,drive={name}{f',serial={serial}' if serial else ''}"
    return ("-drive", f"if=none,id={name},format=raw,{options}", "-device", device)


def run_machine(work: Path, tally: Tally) -> None:
    """Boot the machine with the agent on its second disk and let it run the scenarios inside."""
    shared = work / "shared"
    shared.mkdir()
    install_agent(shared)
    (shared / "run.sh").write_text(GUEST_RUN.format(arguments=" ".join(PYTEST)))
    disks = [disk_of(shared, work / "shared.img")]
    for number in range(DISKS):
        disks.append(work / f"disk-{number}.img")
        with disks[-1].open("wb") as file:
            file.truncate(DISK_BYTES)
    printed, _ = follow(machine(work, dict.fromkeys(disks, "")), tally)
    ending = _EXIT.search(printed)
    if ending is None:
        say(f"the machine ended without a result; its console ended with\n{(work / 'console.log').read_text()[-3000:]}")
    tally.end(ending is not None and ending[1] == "0")


def run_host(tally: Tally) -> None:
    """Run the scenarios on this machine, in namespaces whose end ends every process and mount of theirs."""
    apart = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    _, status = follow([*apart, sys.executable, "-m", "pytest", *PYTEST, str(OWN / "host")], tally)
    tally.end(status == 0)


def follow(command: Sequence[str], tally: Tally, limit_seconds: float = LIMIT_SECONDS) -> tuple[str, int]:
    """Run a command, print and count its lines; return its line with `lab-exit`, if any, and its exit status.

    The command ends after the limit, and with this program.
    """
    ending = ""
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        timer = Timer(limit_seconds, process.kill)
        timer.start()
        try:
            for line in process.stdout:
                tally.take(line)
                ending = line if _EXIT.match(line) else ending  # the machine may print more while it powers off
            process.wait()
        finally:
            timer.cancel()
            process.kill()
    return ending, process.returncode


def say(sentence: str) -> None:
    """Print the progress."""
    sys.stderr.write(f"test-lab: {sentence}\n")


def main() -> int:
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # the same way out as an interrupt: nothing keeps running in the background
    tally = Tally()
    build_machine()
    with tempfile.TemporaryDirectory(dir=BUILT) as work:
        run_machine(Path(work), tally)
    run_host(tally)
    sys.stdout.write(f"test-lab: {tally.passed} scenarios passed, {tally.failed} failed\n")
    return 0 if tally.passed and not tally.failed else 1


if __name__ == "__main__":
    sys.exit(main())
