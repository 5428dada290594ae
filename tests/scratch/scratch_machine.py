"""Scratch disks in a virtual machine with md, LVM and udev: combinations, disks of others, changed disks, kills.

`./dev test-scratch` runs it, as root. It uses the machine of tests/lab with disks that have serial numbers. Exit status
0 only if everything held; CONTRIBUTING.md explains the last line.
"""

import argparse
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Final

from lab.lab import BUILT, PYTEST, Tally, build_machine, disk_of, follow, install_agent, machine
from scratch import unattended

OWN: Final = Path(__file__).parent
PARTS: Final = ("scenarios", "walls", "campaigns", "storm")
MIB: Final = 1024**2
COMBINATIONS: Final = 25
SET: Final = ("SCRATCH0", "SCRATCH1", "SCRATCH2", "SCRATCH3")
CANARIES: Final = tuple(f"CANARY-{kind}" for kind in ("MOUNTED", "SIGNED", "GROUP", "TABLE", "SWAP", "BLANK"))
SET_MIB: Final = 420
CANARY_MIB: Final = 24
STATE_MIB: Final = 64
LIMIT_SECONDS: Final = 2 * 3600.0
RECOVERY_SECONDS: Final = 60.0
GUEST_RUN: Final = """\
export PYTHONPATH=/lab/packages:/lab/tests PYTHONPYCACHEPREFIX=/tmp/bytecode PATH=/lab/packages/bin:$PATH
exec python3 -m {command}
"""
_KILL: Final = re.compile(
    r"^kill: \d+ \S+ seconds=(?P<seconds>[\d.]+) outcome=(?P<outcome>\w+) left=(?P<left>\d+) dirty=(?P<dirty>\d+) "
    r"canary_bytes=(?P<canary>\d+)"
)
_MOST_IDLE_BOOTS: Final = 2
"""In sequence. The first kill of a boot can be its power cut, which counts after the recovery of the next boot."""
_CANARIES: Final = re.compile(r"^canaries: (\d+) bytes changed$")
_COMBINATION: Final = re.compile(r"^scenario: passed test_combinations: ")


class ScratchTally(Tally):
    """Counts of the last line, from what the machine prints."""

    def __init__(self) -> None:
        super().__init__()
        self.combinations = self.kills = self.left = self.dirty = self.canary_bytes = self.compared = 0
        self.longest_seconds = 0.0
        self.wrong: list[str] = []

    def take(self, line: str) -> None:
        super().take(line)
        self.combinations += bool(_COMBINATION.match(line))
        if found := _CANARIES.match(line):
            self.compared += 1
            self.canary_bytes += int(found[1])
        if found := _KILL.match(line):
            self._take_kill(line, found)

    def expect(self, held: bool, otherwise: str) -> None:  # noqa: FBT001 - the name explains it
        if not held:
            self.wrong.append(otherwise)

    def _take_kill(self, line: str, found: re.Match[str]) -> None:
        seconds = float(found["seconds"])
        self.kills += 1
        self.left += int(found["left"])
        self.dirty += int(found["dirty"])
        self.canary_bytes += int(found["canary"])
        self.longest_seconds = max(self.longest_seconds, seconds)
        self.expect(seconds <= RECOVERY_SECONDS, f"a recovery took {seconds} s: {line.strip()}")
        is_named = found["outcome"] == "done" or int(found["dirty"])
        self.expect(bool(is_named), f"a recovery ended without naming a disk: {line.strip()}")


class Lab:
    """Images below one directory, attached in an order and with serial numbers that each boot may change."""

    def __init__(self, work: Path, tally: ScratchTally) -> None:
        self.work = work
        self._tally = tally
        self._shared = work / "shared"
        self._shared.mkdir()
        install_agent(self._shared, "tests/scratch")

    def image(self, name: str, size_mib: int) -> Path:
        image = self.work / f"{name}.img"
        with image.open("wb") as file:
            file.truncate(size_mib * MIB)
        return image

    def state_disk(self) -> Path:
        state = self.image("STATE", STATE_MIB)
        subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", state], check=True)
        return state

    def disks(self) -> dict[str, Path]:
        """Return new disks by serial number: of the program's state, the set, and canaries."""
        sizes = {**dict.fromkeys(SET, SET_MIB), **dict.fromkeys(CANARIES, CANARY_MIB)}
        return {
            "STATE": self.state_disk(),
            **{serial: self.image(serial, size_mib) for serial, size_mib in sizes.items()},
        }

    def prepare(self, command: Sequence[str], *, under_systemd: bool = False) -> None:
        """Have the next boot run a module."""
        service = self._shared / "lab.service"
        service.unlink(missing_ok=True)
        if under_systemd:
            shutil.copy(OWN / "walled/lab.service", service)
        (self._shared / "run.sh").write_text(GUEST_RUN.format(command=shlex.join(command)))
        disk_of(self._shared, self.work / "shared.img")

    def machine(self, disks: Sequence[tuple[str, Path]]) -> list[str]:
        """Return the command of the machine with these disks by serial number."""
        return machine(self.work, {self.work / "shared.img": "", **{image: serial for serial, image in disks}})

    def boot(self, command: Sequence[str], disks: Sequence[tuple[str, Path]], *, under_systemd: bool = False) -> str:
        """Run a module in the machine; return its line with `lab-exit`, empty after a power cut."""
        self.prepare(command, under_systemd=under_systemd)
        printed, _ = follow(self.machine(disks), self._tally, LIMIT_SECONDS)
        return printed.strip()


def run_scenarios(lab: Lab, tally: ScratchTally, arguments: Sequence[str]) -> None:
    """Run the scenarios of the first boot, then those of a second one with changed disks."""
    options = [option.replace("tests/lab", "tests/scratch") for option in (*PYTEST, *arguments)]
    disks = lab.disks()
    first = [*disks.items(), ("SPARE", lab.image("SPARE", SET_MIB))]
    first += [("TWIN", lab.image(f"TWIN{number}", SET_MIB)) for number in range(2)]
    tally.end(lab.boot(("pytest", *options, "tests/scratch/inside"), first) == "lab-exit: 0")
    copy = disks["SCRATCH1"].with_suffix(".copy")
    shutil.copy(disks["SCRATCH1"], copy)
    with disks["SCRATCH0"].open("r+b") as grown:
        grown.truncate((SET_MIB + 1) * MIB)
    second = [("OTHER" if serial == "SCRATCH2" else serial, image) for serial, image in disks.items()]
    second = [*second[::-1], ("SCRATCH1", copy)]
    tally.end(lab.boot(("pytest", *options, "tests/scratch/second"), second) == "lab-exit: 0")


def run_walls(lab: Lab, tally: ScratchTally, arguments: Sequence[str]) -> None:
    """Run the scenarios of the installed units, under systemd."""
    options = [option.replace("tests/lab", "tests/scratch") for option in (*PYTEST, *arguments)]
    printed = lab.boot(("pytest", *options, "tests/scratch/walled"), [*lab.disks().items()], under_systemd=True)
    tally.end(printed == "lab-exit: 0")


def run_storm(lab: Lab, tally: ScratchTally, kills: int, seed: str) -> None:
    """Boot until all kills are done, each time with the disks in another order."""
    disks = [*lab.disks().items()]
    random = Random(seed)  # noqa: S311 - to be repeated, not secret
    idle_boots = 0
    while tally.kills < kills and idle_boots < _MOST_IDLE_BOOTS:
        before = tally.kills
        printed = lab.boot(("scratch.inside.storm", str(kills), seed), disks)
        tally.expect(printed in {"", "lab-exit: 0"}, f"the storm ended with {printed}")
        if printed and tally.kills < kills:
            return
        idle_boots = idle_boots + 1 if before == tally.kills else 0
        random.shuffle(disks)


def run_campaigns(lab: Lab, tally: ScratchTally, pictures: Path | None) -> None:
    """Run campaigns of a server on this machine, without an operator."""
    disks = {f"SCRATCH{number}": lab.image(f"SCRATCH{number}", SET_MIB) for number in range(unattended.DISKS)}
    attached = [("STATE", lab.state_disk()), *disks.items()]
    unattended.run_unattended(lab.machine(attached), disks, tally, lab.prepare, pictures)
    if tally.failed:
        sys.stdout.write(f"the machine's console ended with\n{(lab.work / 'console.log').read_text()[-3000:]}\n")


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the machine, too
    parser = argparse.ArgumentParser(description="Test scratch disks in a virtual machine.")
    parser.add_argument("--kills", type=int, default=200, help="kills of the storm; 0 for none")
    parser.add_argument("--seed", default="1", help="any text; the same one repeats the plans and kinds of kills")
    parser.add_argument("--only", choices=PARTS, help="one of the parts")
    parser.add_argument("--pictures", type=Path, help="directory for figures of the campaigns; default none")
    given, arguments = parser.parse_known_args()
    tally = ScratchTally()
    build_machine()
    with tempfile.TemporaryDirectory(dir=BUILT) as work:
        lab = Lab(Path(work), tally)
        if given.only in {None, "scenarios"}:
            run_scenarios(lab, tally, arguments)
            tally.expect(tally.combinations == COMBINATIONS or bool(arguments), "not all combinations passed")
        if given.only in {None, "walls"}:
            run_walls(lab, tally, arguments)
        if given.only in {None, "campaigns"}:
            run_campaigns(lab, tally, given.pictures)
        if given.only in {None, "storm"}:
            run_storm(lab, tally, given.kills, given.seed)
    tally.expect(not tally.failed, f"{tally.failed} scenarios failed")
    wanted = given.kills if given.only in {None, "storm"} else 0
    tally.expect(tally.kills == wanted, f"{tally.kills} of {wanted} kills")
    tally.expect(not tally.canary_bytes, "canaries changed")
    tally.expect(tally.compared > 0 or given.only == "campaigns", "canaries were not compared")
    tally.expect(not tally.left, "recoveries left something")
    for sentence in tally.wrong:
        sys.stdout.write(f"test-scratch: {sentence}\n")
    sys.stdout.write(f"test-scratch: {tally.passed} scenarios passed, {tally.failed} failed; ")
    sys.stdout.write(f"longest recovery {tally.longest_seconds:.1f} s, seed {given.seed}\n")
    sys.stdout.write(f"scratch: combinations={tally.combinations} kills={tally.kills} ")
    sys.stdout.write(f"canary_bytes_changed={tally.canary_bytes} left_mounted={tally.left} dirty_named={tally.dirty}\n")
    return 0 if not tally.wrong else 1


if __name__ == "__main__":
    sys.exit(main())
