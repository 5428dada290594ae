"""Names the files of scratch devices on this node, and the user who owns the file systems."""

import pwd
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from iotide_agent.scratch.adoptions import Adoptions
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.sets import SYSTEM_SETS
from iotide_agent.scratch.sysfs import Sysfs

SOCKET: Final = Path("/run/iotide/scratch.sock")
STATE: Final = Path("/var/lib/iotide-scratch")
MOUNTS: Final = Path("/srv/iotide-scratch")
OWNER: Final = "iotide-agent"
_MACHINE_ID: Final = Path("/etc/machine-id")


@dataclass(frozen=True, slots=True)
class Site:
    """The node. The program has only the defaults; no option, variable or setting changes them.

    Attributes:
        owner: user and group that get the root directory of each mount; None for those of `iotide-agent`.
        patience_seconds: how long an unmount or a busy device is waited for.
    """

    sysfs: Sysfs = field(default_factory=Sysfs)
    config_file: Path = SYSTEM_SETS
    state: Path = STATE
    mounts: Path = MOUNTS
    machine_id: str = ""
    owner: tuple[int, int] | None = None
    patience_seconds: float = 60.0

    @property
    def lock_file(self) -> Path:
        return self.state / "lock"

    @property
    def adoptions(self) -> Adoptions:
        return Adoptions(self.state / "adopted.json")

    def this_machine(self) -> str:
        """Return the machine-id; raise ScratchRefusedError without one."""
        found = self.machine_id
        with suppress(OSError):
            found = found or _MACHINE_ID.read_text(encoding="ascii").strip()
        if not found:
            raise ScratchRefusedError(f"{_MACHINE_ID} is empty; run systemd-machine-id-setup")
        return found

    def owner_ids(self) -> tuple[int, int]:
        """Return user and group of mounts; raise ScratchRefusedError if the agent's user does not exist."""
        if self.owner is not None:
            return self.owner
        try:
            account = pwd.getpwnam(OWNER)
        except KeyError as error:
            raise ScratchRefusedError(f"the user {OWNER} does not exist; run `iotide-agent setup`") from error
        return account.pw_uid, account.pw_gid
