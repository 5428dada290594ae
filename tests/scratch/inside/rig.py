"""Disks of the virtual machine, set up for the root program as on a node: list, user, adoption."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import Any, Final

from iotide_agent.scratch.adopting import Root
from iotide_agent.scratch.commands import Commands
from iotide_agent.scratch.disk import Disk
from iotide_agent.scratch.journal import Journal
from iotide_agent.scratch.lock import held_lock
from iotide_agent.scratch.operations import perform
from iotide_agent.scratch.requests import parse_request
from iotide_agent.scratch.sets import SYSTEM_SETS
from iotide_agent.scratch.site import OWNER, STATE, Site
from iotide_agent.scratch.uses import is_claimed

SITE: Final = Site(patience_seconds=20.0)
SET: Final = tuple(f"serial-SCRATCH{number}" for number in range(4))
MACHINE_ID: Final = Path("/etc/machine-id")
THIS_MACHINE: Final = "0123456789abcdef0123456789abcdef"
RULE: Final = "61-iotide-scratch.rules"
NAME_FILE: Final = STATE / "name-of-last"
"""The kernel's name of the set's last disk at the first boot."""
_orders: Final = count(1)
_STATE_DISK: Final = "serial-STATE"


def prepare() -> None:
    """Give the machine an id, the agent's user, and the program's state of the boot before."""
    MACHINE_ID.write_text(f"{THIS_MACHINE}\n")
    subprocess.run(("useradd", "--system", OWNER), check=False)
    STATE.mkdir(mode=0o700, exist_ok=True)
    run("mount", f"/dev/{name_of(_STATE_DISK)}", str(STATE))
    SYSTEM_SETS.parent.mkdir(exist_ok=True)


def use_rule() -> None:
    """Install the agent's udev rule, which this boot's start did not have."""
    Path("/etc/udev/rules.d", RULE).write_text(files("iotide_agent.setup").joinpath(RULE).read_text())
    run("udevadm", "control", "--reload")


def list_sets(sets: Mapping[str, Sequence[str]]) -> None:
    SYSTEM_SETS.write_text("".join(f"[sets.{name}]\ndevices = {json.dumps([*sets[name]])}\n" for name in sets))


def adopt(device: str, *, is_same: bool = False) -> str:
    with held_lock(SITE.lock_file, 10.0) as lock:
        typed = device.removeprefix("serial-")
        root = Root(SITE, Commands(Journal(sys.stderr), lock), lambda _question: typed, "tester")
        return root.adopt_same_disk(device) if is_same else root.adopt(device)


def performed(verb: str, *, name: str = "bays", **words: object) -> dict[str, Any]:
    """Perform a request on a set as the program's worker does, and return its record."""
    packet = json.dumps({"verb": verb, "set": name, **words}).encode()
    return perform(SITE, parse_request(packet), packet, Journal(sys.stderr))


def done(verb: str, **words: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """Perform a request that must succeed, and return its answer."""
    record = performed(verb, **words)
    assert record["outcome"] == "done", record["reason"]
    answer: dict[str, Any] = record["answer"]
    return answer


def new_order() -> dict[str, Any]:
    """Return an order newer than those of all scenarios before: a disk refuses an older one."""
    return {"order": next(_orders), "fence": 1}


def name_of(device: str) -> str:
    (name,) = [name for name in SITE.sysfs.disks() if SITE.sysfs.identity(name).device == device]
    return name


def path_of(device: str) -> str:
    return f"/dev/{name_of(device)}"


def arena_of(device: str) -> str:
    arena = SITE.sysfs.partition(name_of(device), 1)
    assert arena is not None
    return arena


def state_of(device: str) -> str:
    with closing(Disk(SITE.sysfs, device, locks=False)) as disk:
        return str(disk.state().condition)


def leftovers(devices: Sequence[str] = SET) -> list[str]:
    """Return everything on or above arenas that must be clean, and mounts of sets."""
    found = mounts()
    for device in devices:
        arena = arena_of(device)
        found += [f"{arena}: {holder}" for holder in SITE.sysfs.names(arena, "holders")]
        found += [f"{arena}: claimed"] if is_claimed(f"/dev/{arena}") else []
        found += [f"{arena}: {state_of(device)}"] if state_of(device) != "clean" else []
        printed = run("wipefs", "--no-act", "--parsable", f"/dev/{arena}")
        found += [f"{arena}: {line}" for line in printed.splitlines() if not line.startswith("#")]
    return found


def mounts() -> list[str]:
    return [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if f" {SITE.mounts}/" in line]


def run(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{command}: {ended.stderr}"
    return ended.stdout
