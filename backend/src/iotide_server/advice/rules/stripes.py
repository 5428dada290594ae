"""Rule: file systems that were not made for the stripes of the RAID or logical volume below them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from iotide_server.advice.findings import Advice, Evidence, Finding, Fine, Severity, Unknown
from iotide_server.advice.scene import MountedTarget, Scene, unavailable
from iotide_wire.geometry import LEAST_DETECTED_XFS_BYTES
from iotide_wire.units import Unit, format_bytes

CODE: Final = "stripe_misaligned"
SECTOR_BYTES: Final = 512  # unit of XFS's mount options, whatever the disk's sector size
_SOURCE: Final = (
    "ADMIN magazine on ext3 and XFS on RAID: stride = chunk in blocks, stripe width = stride x data disks, sunit and"
    " swidth = the same in 512-byte sectors; mke2fs(8), tune2fs(8), mkfs.xfs(8), xfs(5)"
)
_FAMILIES: Final = {"ext2": "ext", "ext3": "ext", "ext4": "ext", "xfs": "xfs"}
_GEOMETRY_FACT: Final = {"ext": "ext.features", "xfs": "xfs.geometry"}
"""Facts with the reason if the geometry of such a file system could not be read."""
_SPARE_DISKS: Final = {"RAID0": 0, "RAID5": 1, "RAID6": 2}
_USUAL_BLOCK_BYTES: Final = 4096
_EXT_REMEDY: Final = (
    "Set the geometry in the superblock. This works while it is mounted and takes effect at the next mount. Existing"
    " data stays where it is. Recreating the file system, which erases it, also aligns its metadata."
)
_XFS_MAKE_REMEDY: Final = (
    "Recreate the file system, which erases it. XFS created without a stripe unit accepts none as a mount option."
)
_XFS_MOUNT_REMEDY: Final = (
    "Unmount it and mount it with these options. If the kernel refuses them because they do not suit the layout,"
    " recreate the file system, which erases it."
)


@dataclass(frozen=True, slots=True)
class Stripes:
    chunk_bytes: int  # size on one disk before the next
    width_bytes: int  # on all data disks, without parity
    facts: tuple[str, ...]

    @property
    def data_disks(self) -> int:
        return self.width_bytes // self.chunk_bytes


def misaligned_stripes(scene: Scene) -> Iterator[Finding]:
    for site in scene.sites:
        family = _FAMILIES.get(site.fstype)
        below = stripes_below(site)
        if family is not None and below is not None:
            yield _judge(site, family, below)
        elif family is not None and (because := _hidden_stripes(site)):
            yield Unknown(CODE, site.name, because)


def stripes_below(site: MountedTarget) -> Stripes | None:
    """Return the geometry from the kernel's device limits, as mkfs does, else from LVM, md or the controller."""
    block = site.number("device.physical_block_bytes") or SECTOR_BYTES
    names = (
        ("device.minimum_io_bytes", "device.optimal_io_bytes"),
        ("lvm.chunk_bytes", "lvm.stripe_width_bytes"),
        ("md.chunk_bytes", "md.stripe_width_bytes"),
    )
    for chunk_fact, width_fact in names:
        chunk, width = site.number(chunk_fact), site.number(width_fact)
        # A plain disk reports its block as the minimum; some report an optimal size that is no stripe.
        if chunk and width and chunk > block and width % chunk == 0:
            return Stripes(chunk, width, (chunk_fact, width_fact))
    strip, disks = site.number("raid.strip_bytes"), site.number("raid.disk_count")
    spare = _SPARE_DISKS.get(str(site.facts.get("raid.level")))
    if strip and disks and spare is not None and disks > spare:
        return Stripes(strip, strip * (disks - spare), ("raid.strip_bytes", "raid.disk_count", "raid.level"))
    return None


def _hidden_stripes(site: MountedTarget) -> str | None:
    level = site.facts.get("raid.level")
    if level is None or site.facts.get("device.stack") is None:
        return None
    because = unavailable(level)
    if because is not None:
        return f"the controller's chunk size is unknown: {because}"
    if not isinstance(level, str) or level.upper().replace(" ", "") in {"RAID1", "JBOD"}:
        return None
    return f"the controller's volume is {level}, and the fact raid.strip_bytes is missing"


def _judge(site: MountedTarget, family: str, below: Stripes) -> Finding:
    unit, width = (site.facts.get(f"{family}.stripe_{part}_bytes") for part in ("unit", "width"))
    if not isinstance(unit, int) or not isinstance(width, int):
        reason = site.facts.get(_GEOMETRY_FACT[family])
        because = reason and unavailable(reason)
        return Unknown(
            CODE, site.name, f"the fact {family}.stripe_unit_bytes is missing" + (f": {because}" * bool(because))
        )
    mounted_width = _mounted_width(site) or width
    if (unit, mounted_width) == (below.chunk_bytes, below.width_bytes):
        return Fine(site.name, f"matches the stripes of {format_bytes(below.width_bytes)} below it")
    remedy, commands = _remedy(site, family, below, has_unit=unit > 0)
    made_for = (
        f"was made for stripes of {format_bytes(mounted_width)} in chunks of {format_bytes(unit)}"
        if unit
        else "was made without stripes"
    )
    return Advice(
        code=CODE,
        severity=Severity.MEDIUM,
        subject=site.name,
        title=f"{site.fstype} does not match the stripes below it",
        explanation=(
            f"Below it are {below.data_disks} data disks with chunks of {format_bytes(below.chunk_bytes)}, a stripe of"
            f" {format_bytes(below.width_bytes)}. The file system {made_for}. Large writes then begin and end inside"
            " stripes, so a RAID with parity must read before it writes. Metadata may also pile up on some of the"
            f" disks.{_why_dropped(site, family, below, has_unit=unit > 0)}"
        ),
        evidence=(
            *site.evidence(*below.facts, f"{family}.stripe_unit_bytes", f"{family}.stripe_width_bytes"),
            *site.evidence("md.level", "md.disk_count", "lvm.stripe_count", "mount.options", "device.stack"),
            *site.evidence("partition.start_bytes", "device.size_bytes"),
            Evidence("data disks", below.data_disks, Unit.COUNT),
        ),
        remedy=remedy,
        commands=commands,
        source=_SOURCE,
    )


def _why_dropped(site: MountedTarget, family: str, below: Stripes, *, has_unit: bool) -> str:
    """Return why mkfs.xfs took no stripes from a device that reports them; empty if unknown."""
    start, size = site.number("partition.start_bytes"), site.number("device.size_bytes")
    if family != "xfs" or has_unit:
        return ""
    if start and start % below.chunk_bytes:
        return (
            " mkfs.xfs drops the stripes without a message where a partition begins inside a chunk: recreate the"
            " partition first."
        )
    if size and size < LEAST_DETECTED_XFS_BYTES:
        return " Below 1 GiB, mkfs.xfs does not read them from the device."
    return ""


def _mounted_width(site: MountedTarget) -> int | None:
    """Return the width of ext4's `stripe=` option, which is in blocks and overrides the superblock."""
    options = dict(option.partition("=")[::2] for option in str(site.facts.get("mount.options", "")).split(","))
    blocks, block = options.get("stripe", ""), site.number("ext.block_bytes")
    return int(blocks) * block if block and blocks.isdecimal() else None


def _remedy(site: MountedTarget, family: str, below: Stripes, *, has_unit: bool) -> tuple[str, tuple[str, ...]]:
    if family == "ext":
        block = site.number("ext.block_bytes") or _USUAL_BLOCK_BYTES
        geometry = f"stride={below.chunk_bytes // block},stripe_width={below.width_bytes // block}"
        commands = f"tune2fs -E {geometry} {site.device_word}", f"mkfs.{site.fstype} -E {geometry} {site.device_word}"
        return _EXT_REMEDY, commands
    make = f"mkfs.xfs -d su={below.chunk_bytes},sw={below.data_disks} {site.device_word}"
    if not has_unit:
        return _XFS_MAKE_REMEDY, (make,)
    sectors = f"sunit={below.chunk_bytes // SECTOR_BYTES},swidth={below.width_bytes // SECTOR_BYTES}"
    return _XFS_MOUNT_REMEDY, (site.mount_command(sectors), make)
