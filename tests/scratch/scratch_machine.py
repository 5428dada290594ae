"""Scratch disks in a virtual machine with md, LVM and udev.

Usage: python tests/scratch/scratch_machine.py [PYTEST-ARGUMENTS], as root. It uses the machine of tests/lab with disks
that have serial numbers. Exit status 0 when every scenario passed.
"""

import shlex
import signal
import sys
import tempfile
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lab.lab import BUILT, PYTEST, Tally, build_machine, disk_of, follow, install_agent, machine

DISKS: Final = ("SCRATCH0", "SCRATCH1", "SCRATCH2", "SCRATCH3", "CANARY0", "CANARY1")
DISK_BYTES: Final = 420 * 1024**2
GUEST_RUN: Final = """\
export PYTHONPATH=/lab/packages:/lab/tests PYTHONPYCACHEPREFIX=/tmp/bytecode PATH=/lab/packages/bin:$PATH
exec python3 -m pytest {arguments} tests/scratch/inside
"""


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the machine, too
    tally = Tally()
    build_machine()
    with tempfile.TemporaryDirectory(dir=BUILT) as directory:
        work = Path(directory)
        shared = work / "shared"
        shared.mkdir()
        install_agent(shared, "tests/scratch")
        options = [option.replace("tests/lab", "tests/scratch") for option in (*PYTEST, *sys.argv[1:])]
        (shared / "run.sh").write_text(GUEST_RUN.format(arguments=shlex.join(options)))
        disks = {work / "shared.img": ""}
        disk_of(shared, work / "shared.img")
        for serial in DISKS:
            image = work / f"{serial}.img"
            with image.open("wb") as file:
                file.truncate(DISK_BYTES)
            disks[image] = serial
        printed, _ = follow(machine(work, disks), tally)
        tally.end(printed.strip() == "lab-exit: 0")
    sys.stdout.write(f"test-scratch: {tally.passed} scenarios passed, {tally.failed} failed\n")
    return 0 if tally.passed and not tally.failed else 1


if __name__ == "__main__":
    sys.exit(main())
