"""Build a layout on arenas, layer by layer; each layer is found again in /sys, not by the name it was given."""

from collections.abc import Callable, Sequence
from typing import Final

from iotide_agent.scratch import mapper
from iotide_agent.scratch.commands import LONG_SECONDS, USUAL_SECONDS, Commands
from iotide_agent.scratch.disk import Disk, check_node, until
from iotide_agent.scratch.mapper import NUMBERS
from iotide_agent.scratch.refusals import CommandFailedError, ScratchRefusedError
from iotide_agent.scratch.requests import Making
from iotide_agent.scratch.sysfs import Sysfs
from iotide_wire.geometry import array_stripe, start_multiple_bytes
from iotide_wire.scratch_vocabulary import SECTOR_BYTES, LayoutKind, LvmKind, MdLevel, Sync

_OFFSET_SECTORS: Final = 63
_SYNC_SECONDS: Final = 30 * 24 * 3600.0
_APPEAR_SECONDS: Final = 30.0
_WITHOUT_SYNC: Final = frozenset({MdLevel.RAID0})
_LVM_CONFIG: Final = (
    "devices{use_devicesfile=0 hints=none} backup{backup=0 archive=0} global{event_activation=0 notify_dbus=0}"
)


class Builder:
    """Builds the layout of one make; `name` distinguishes its arrays and volumes on this node."""

    def __init__(self, sysfs: Sysfs, commands: Commands, making: Making, name: str, check: Callable[[], None]) -> None:
        """Take `check`, which raises ScratchRefusedError unless the disks are still those of this make."""
        self._sysfs = sysfs
        self._commands = commands
        self._making = making
        self._name = name
        self._check = check

    def build(self, disks: Sequence[Disk]) -> list[str]:
        """Return the paths of the devices for mkfs: one, or all arenas for Btrfs. Raise CommandFailedError."""
        arenas = [disk.arena_path for disk in disks]
        layout = self._making.layout
        if layout.kind is LayoutKind.OFFSET:
            return [self._offset(disks[0])]
        if layout.kind is LayoutKind.MD:
            return [self._array(arenas, 0)]
        if layout.kind is LayoutKind.LVM:
            return [self._volume(arenas)]
        if layout.kind is LayoutKind.LVM_MD:
            size = layout.array_disks
            parts = [arenas[at : at + size] for at in range(0, len(arenas), size)]
            return [self._volume([self._array(part, number) for number, part in enumerate(parts)])]
        return arenas

    def _offset(self, disk: Disk) -> str:
        sectors = self._sysfs.size_bytes(disk.arena) // SECTOR_BYTES - _OFFSET_SECTORS
        table = f"0 {sectors} linear {disk.arena_path} {_OFFSET_SECTORS}"
        number = self._free_volume()
        self._run("dmsetup", "create", self._name, *mapper.named(number), "--table", table)
        return self._new_device(f"dm-{number}")

    def _array(self, members: Sequence[str], part: int) -> str:
        making, layout = self._making, self._making.layout
        has_copies = layout.level not in _WITHOUT_SYNC
        number = _free("md", [number for number in NUMBERS if not self._sysfs.has(f"md{number}")])
        argv = ["mdadm", "--create", f"/dev/md{number}", "--run", "--quiet", "--metadata=1.2", "--homehost=<none>",
                f"--name={self._name}-{part}", f"--level={layout.level}", f"--raid-devices={len(members)}",
                "--data-offset=1M"]  # fmt: skip
        if layout.chunk_bytes is not None:
            argv.append(f"--chunk={layout.chunk_bytes // 1024}")
        if has_copies:
            argv.append(f"--bitmap={making.bitmap}")
        if has_copies and making.sync is not Sync.WAIT:
            argv.append("--assume-clean")
        if making.sync is Sync.ZEROED:
            for member in members:
                self._run("blkdiscard", "--zeroout", member, limit_seconds=LONG_SECONDS)
        self._run(*argv, *members)
        path = self._new_device(f"md{number}")
        self._wait_idle(f"md{number}")
        return path

    def _volume(self, members: Sequence[str]) -> str:
        layout = self._making.layout
        group, number = self._name.replace("-", "_"), self._free_volume()
        self._lvm(members, "pvcreate", "-ff", "-y", "--dataalignment", self._data_alignment(), *members)
        self._lvm(members, "vgcreate", "--setautoactivation", "n", group, *members)
        stripes: tuple[str, ...] = ()
        if layout.lvm is LvmKind.STRIPE and layout.lvm_chunk_bytes is not None:
            stripes = ("-i", str(len(members)), "-I", f"{layout.lvm_chunk_bytes // 1024}k")
        self._lvm(members, "lvcreate", "-y", "-Wn", "-Zy", "-My", "--minor", str(number), "-n", "scratch",
                  "-l", "100%FREE", *stripes, group)  # fmt: skip
        return self._new_device(f"dm-{number}")

    def _data_alignment(self) -> str:
        """Return where data begins on a PV: at a multiple of 1 MiB, and of the whole stripe of an array below it."""
        return f"{start_multiple_bytes(array_stripe(self._making.layout)) // 1024}k"

    def _lvm(self, members: Sequence[str], verb: str, *arguments: str) -> None:
        # By device: a foreign group may have exactly our name.
        self._run("lvm", verb, "--config", _LVM_CONFIG, "--devices", ",".join(members), *arguments)

    def _free_volume(self) -> int:
        # Loads the driver. Without it, lvcreate ignores the number, and the volume gets another one.
        self._run("dmsetup", "version")
        used = mapper.tables(self._commands)
        return _free("dm-", [number for number in NUMBERS if number not in used])

    def _new_device(self, device: str) -> str:
        path = f"/dev/{device}"
        if not until(lambda: self._sysfs.size_bytes(device) > 0, _APPEAR_SECONDS):
            raise CommandFailedError(f"{path} did not appear")
        check_node(self._sysfs, device)
        # An earlier layout of equal geometry left its inside where the parts do not show it.
        self._run("wipefs", "--all", "--quiet", path)
        return path

    def _run(self, *argv: str, limit_seconds: float = USUAL_SECONDS) -> None:
        self._check()
        self._commands.run(argv, limit_seconds=limit_seconds)

    def _wait_idle(self, device: str) -> None:
        """Wait until an array has synchronised; its progress is in /sys."""
        if self._is_synchronised(device):
            return
        self._commands.journal.write("sync_started", device=device)
        if not until(lambda: self._is_synchronised(device), _SYNC_SECONDS, pause_seconds=1.0):
            raise CommandFailedError(f"{device} has not synchronised within 30 days")
        self._commands.journal.write("sync_ended", device=device)

    def _is_synchronised(self, device: str) -> bool:
        """Return true at once for RAID 0. A new array can be idle for a moment before it begins."""
        action, start, degraded = (
            self._sysfs.text(device, f"md/{name}") for name in ("sync_action", "resync_start", "degraded")
        )
        return action in {"", "idle"} and start in {"", "none"} and degraded in {"", "0"}


def _free(prefix: str, numbers: Sequence[int]) -> int:
    if not numbers:
        raise ScratchRefusedError(
            f"all of {prefix}{NUMBERS[0]} to {prefix}{NUMBERS[-1]} exist on this node; wipe a set first"
        )
    return numbers[0]
