"""Disks of the virtual machine, set up for the root program as on a node: list, user, adoption."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from iotide_agent.scratch.adopting import Root
from iotide_agent.scratch.commands import Commands
from iotide_agent.scratch.journal import Journal
from iotide_agent.scratch.lock import held_lock
from iotide_agent.scratch.operations import perform
from iotide_agent.scratch.requests import parse_request
from iotide_agent.scratch.sets import SYSTEM_SETS
from iotide_agent.scratch.site import OWNER, Site
from iotide_agent.scratch.uses import is_claimed

SITE: Final = Site(patience_seconds=20.0)
SET: Final = tuple(f"serial-SCRATCH{number}" for number in range(4))
CANARIES: Final = tuple(f"serial-CANARY{number}" for number in range(2))


def prepare() -> None:
    """Give the machine an id, the agent's user and the list, and adopt the disks of the set."""
    Path("/etc/machine-id").write_text("0123456789abcdef0123456789abcdef\n")
    subprocess.run(("useradd", "--system", OWNER), check=False)
    SYSTEM_SETS.parent.mkdir(exist_ok=True)
    SYSTEM_SETS.write_text(f"[sets.bays]\ndevices = {json.dumps([*SET])}\n")
    for device in SET:
        adopt(device)


def adopt(device: str) -> str:
    with held_lock(SITE.lock_file, 10.0) as lock:
        typed = device.removeprefix("serial-")
        return Root(SITE, Commands(Journal(sys.stderr), lock), lambda _question: typed, "tester").adopt(device)


def performed(verb: str, journal: Journal | None = None, **words: object) -> dict[str, Any]:
    """Perform a request on the set as the program's worker does, and return its record."""
    packet = json.dumps({"verb": verb, "set": "bays", **words}).encode()
    return perform(SITE, parse_request(packet), packet, journal or Journal(sys.stderr))


def name_of(device: str) -> str:
    (name,) = [name for name in SITE.sysfs.disks() if SITE.sysfs.identity(name).device == device]
    return name


def leftovers(devices: Sequence[str] = SET) -> list[str]:
    """Return everything on or above the arenas, and mounts of the set."""
    found = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if "/iotide-scratch/" in line]
    for device in devices:
        arena = SITE.sysfs.partition(name_of(device), 1)
        assert arena is not None
        found += [f"{arena}: {holder}" for holder in SITE.sysfs.names(arena, "holders")]
        found += [f"{arena}: claimed"] if is_claimed(f"/dev/{arena}") else []
        printed = subprocess.check_output(("wipefs", "--no-act", "--parsable", f"/dev/{arena}"), text=True)
        found += [f"{arena}: {line}" for line in printed.splitlines() if not line.startswith("#")]
    return found
