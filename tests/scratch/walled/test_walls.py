"""The installed units suffice for every layout, and the kernel keeps whatever runs in them from each other disk."""

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from scratch.inside.as_agent import as_agent
from scratch.inside.canaries import REASONS
from scratch.inside.cases import CASES, Case
from scratch.inside.nfs_server import CLIENT, list_client, mounted, nfs_server, states
from scratch.inside.rig import SET, leftovers, path_of, run, state_of

from iotide_agent.scratch.mapper import NUMBERS
from iotide_agent.scratch.site import SOCKET
from iotide_wire.setup.services import UNITS

SERVICE: Final = "iotide-scratch.service"
MADE: Final = (
    "offset 63s",
    "raid1 2",
    "raid6 4x64K",
    "lvm stripe 4x256K",
    "lvm linear on raid5 4x64K",
    "btrfs raid1 2",
)
SINGLE: Final = {"layout": {"kind": "single"}, "fs": {"type": "ext4"}}
POINT: Final = Path("/mnt/client")
ANSWERS: Final = Path("/run/iotide-walls.json")
OTHER: Final = "{other}"
NUMBERS_OF_OTHER: Final = "{numbers}"
ATTEMPTS: Final[dict[str, tuple[str, ...]]] = {
    "read": ("dd", f"if={OTHER}", "of=/dev/null", "bs=4096", "count=1", "iflag=direct"),
    "write": ("dd", "if=/dev/zero", f"of={OTHER}", "bs=4096", "count=1", "oflag=direct"),
    "blkdiscard": ("blkdiscard", "--force", OTHER),
    "wipefs": ("wipefs", "--all", "--force", OTHER),
    "mkfs": ("mkfs.ext4", "-q", "-F", "-F", OTHER),
    "mount": ("mount", "--types", "ext4", OTHER, "/mnt"),
    "pvcreate": ("lvm", "pvcreate", "-ff", "-y", "--config", "devices{use_devicesfile=0}", OTHER),
    "mdadm": ("mdadm", "--create", f"/dev/md{NUMBERS[-1]}", "--run", "--force", "--level=1", "--raid-devices=1", OTHER),
    "dmsetup": ("dmsetup", "create", "walls", "--table", f"0 8 linear {OTHER} 0"),
    "node of one's own": ("sh", "-c", "mknod /run/walls b {numbers} && dd if=/run/walls of=/dev/null bs=4096 count=1"),
}
"""Commands of root inside the unit, with its sandbox; OTHER is a disk that was not adopted."""


@pytest.mark.parametrize("case", [case for case in CASES if case.text in MADE], ids=str)
def test_a_layout_is_made_mounted_and_wiped_by_the_unit(case: Case) -> None:
    head = {"set": "bays", "order": 600 + CASES.index(case), "fence": 1}
    made = as_agent(SOCKET, {"verb": "make", **head, **case.words}, {"verb": "mount", **head, "options": {}})
    assert [record["outcome"] for record in made] == ["done", "done"], made
    assert as_agent(SOCKET, {"verb": "wipe", **head})[0]["outcome"] == "done"
    assert leftovers() == []


def test_the_unit_exports_a_mount_and_ends_what_a_client_holds() -> None:
    head = {"set": "bays", "order": 690, "fence": 1}
    list_client({"bays": SET})
    with nfs_server():
        export = {"verb": "export", **head, "kind": "nfs", "clients": [CLIENT]}
        made = as_agent(SOCKET, {"verb": "make", **head, **SINGLE}, {"verb": "mount", **head, "options": {}}, export)
        assert [record["outcome"] for record in made] == ["done", "done", "done"], made
        with mounted(Path(made[1]["answer"]["mount"]), POINT), (POINT / "file").open("w") as held:
            held.write("x")
            held.flush()
            assert as_agent(SOCKET, {"verb": "wipe", **head})[0]["outcome"] == "done", states()
            with suppress(OSError):
                held.close()
    assert leftovers() == []


def test_nothing_in_the_unit_reaches_another_disk() -> None:
    others = [device for device in REASONS if device != "serial-CANARY-MOUNTED"]
    commands = {f"{name} {device}": filled(argv, device) for device in others for name, argv in ATTEMPTS.items()}
    commands["read an adopted disk"] = ["dd", f"if={path_of(SET[0])}", "of=/dev/null", "bs=4096", "count=1"]
    statuses = ended_in_the_unit(commands)
    assert statuses.pop("read an adopted disk") == 0
    assert {name for name, status in statuses.items() if status == 0} == set()
    assert len(statuses) == len(others) * len(ATTEMPTS)
    assert {state_of(device) for device in SET} == {"clean"}


def filled(argv: Sequence[str], device: str) -> list[str]:
    numbers = run("lsblk", "-dno", "MAJ:MIN", path_of(device)).replace(":", " ").strip()
    return [part.replace(OTHER, path_of(device)).replace(NUMBERS_OF_OTHER, numbers) for part in argv]


def ended_in_the_unit(commands: dict[str, list[str]]) -> dict[str, int]:
    """Run commands in the unit in place of its program, and return their exit statuses."""
    program = (
        "import json, subprocess, sys\n"
        "ended = {name: subprocess.run(argv).returncode for name, argv in json.load(open(sys.argv[1])).items()}\n"
        "json.dump(ended, open(sys.argv[2], 'w'))\n"
    )
    wanted = ANSWERS.with_suffix(".wanted")
    wanted.write_text(json.dumps(commands))
    script = ANSWERS.with_suffix(".py")
    script.write_text(program)
    replaced = UNITS / f"{SERVICE}.d/99-walls.conf"
    replaced.write_text(
        f"[Service]\nType=oneshot\nExecStart=\nExecStart={sys.executable} {script} {wanted} {ANSWERS}\n"
    )
    run("systemctl", "daemon-reload")
    try:
        run("systemctl", "stop", "iotide-scratch.socket", SERVICE)
        run("systemctl", "start", SERVICE)
        found: dict[str, int] = json.loads(ANSWERS.read_text())
    finally:
        replaced.unlink()
        subprocess.run(("systemctl", "daemon-reload"), check=False)
    return found
