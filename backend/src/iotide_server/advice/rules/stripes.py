"""Whether a file system was made for the stripes of the RAID or the logical volume below it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from iotide_server.advice.findings import Advice, Evidence, Finding, Fine, Severity, Unknown
from iotide_server.advice.scene import MountedTarget, Scene, unavailable
from iotide_wire.units import Unit, format_bytes

CODE: Final = "stripe_misaligned"
SECTOR_BYTES: Final = 512  # XFS's mount options count in these, whatever the disk's sectors are
_SOURCE: Final = (
    "ADMIN magazine on ext3 and XFS on RAID: stride is the chunk in blocks, stripe width that times the data disks,"
    " sunit and swidth the same in sectors of 512 bytes; mke2fs(8), tune2fs(8), mkfs.xfs(8), xfs(5)"
)
_FAMILIES: Final = {"ext2": "ext", "ext3": "ext", "ext4": "ext", "xfs": "xfs"}
_GEOMETRY_FACT: Final = {"ext": "ext.features", "xfs": "xfs.geometry"}
"""What says why the geometry of such a file system could not be read."""
_SPARE_DISKS: Final = {"RAID0": 0, "RAID5": 1, "RAID6": 2}
_USUAL_BLOCK_BYTES: Final = 4096
_EXT_REMEDY: Final = (
    "Say so in the superblock, which can be done while it is mounted and holds from the next mount on. Where things lie"
    " already stays as it is; making the file system anew, which erases it, places its metadata by the stripes too."
)
_XFS_MAKE_REMEDY: Final = (
    "Make the file system anew, which erases it: XFS that was made without a stripe unit takes none from mount options."
)
_XFS_MOUNT_REMEDY: Final = (
    "Unmount it and mount it with these options; the kernel refuses them where they do not suit the layout, and then"
    " the file system has to be made anew, which erases it."
)


@dataclass(frozen=True, slots=True)
class Stripes:
    """What lies below a file system."""

    chunk_bytes: int  # on one disk before the next one has its turn
    width_bytes: int  # on all of them, parity left out
    facts: tuple[str, ...]  # that say so

    @property
    def data_disks(self) -> int:
        """How many disks of a stripe hold data."""
        return self.width_bytes // self.chunk_bytes


def misaligned_stripes(scene: Scene) -> Iterator[Finding]:
    """Each ext or XFS file system on stripes against its own stripe unit and width."""
    for site in scene.sites:
        family = _FAMILIES.get(site.fstype)
        below = stripes_below(site)
        if family is not None and below is not None:
            yield _judge(site, family, below)
        elif family is not None and (because := _hidden_stripes(site)):
            yield Unknown(CODE, site.name, because)


def stripes_below(site: MountedTarget) -> Stripes | None:
    """By the kernel's word for the device, which mkfs goes by too; else by LVM's, md's or the controller's own."""
    block = site.number("device.physical_block_bytes") or SECTOR_BYTES
    names = (
        ("device.minimum_io_bytes", "device.optimal_io_bytes"),
        ("lvm.chunk_bytes", "lvm.stripe_width_bytes"),
        ("md.chunk_bytes", "md.stripe_width_bytes"),
    )
    for chunk_fact, width_fact in names:
        chunk, width = site.number(chunk_fact), site.number(width_fact)
        # a plain disk tells its block as the smallest size, and some tell an optimal one that is no stripe.
        if chunk and width and chunk > block and width % chunk == 0:
            return Stripes(chunk, width, (chunk_fact, width_fact))
    strip, disks = site.number("raid.strip_bytes"), site.number("raid.disk_count")
    spare = _SPARE_DISKS.get(str(site.facts.get("raid.level")))
    if strip and disks and spare is not None and disks > spare:
        return Stripes(strip, strip * (disks - spare), ("raid.strip_bytes", "raid.disk_count", "raid.level"))
    return None


def _hidden_stripes(site: MountedTarget) -> str | None:
    """Why nothing is known of stripes that there are, by the level of the controller's RAID."""
    level = site.facts.get("raid.level")
    if level is None or site.facts.get("device.stack") is None:
        return None
    because = unavailable(level)
    if because is not None:
        return f"the controller's chunk is not known: {because}"
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
        return Fine(site.name, f"made for the stripes of {format_bytes(below.width_bytes)} below it")
    remedy, commands = _remedy(site, family, below, has_unit=unit > 0)
    made_for = (
        f"was made for stripes of {format_bytes(mounted_width)} in chunks of {format_bytes(unit)}"
        if unit
        else "was made for no stripes at all"
    )
    return Advice(
        code=CODE,
        severity=Severity.MEDIUM,
        subject=site.name,
        title=f"{site.fstype} does not fit the stripes below it",
        explanation=(
            f"Below it lie {below.data_disks} data disks in chunks of {format_bytes(below.chunk_bytes)}, a stripe of"
            f" {format_bytes(below.width_bytes)}; the file system {made_for}. Its large writes then begin and end"
            " inside stripes, for which a RAID with parity first reads what it is to write, and its metadata may pile"
            " up on some of the disks."
        ),
        evidence=(
            *site.evidence(*below.facts, f"{family}.stripe_unit_bytes", f"{family}.stripe_width_bytes"),
            *site.evidence("md.level", "md.disk_count", "lvm.stripe_count", "mount.options", "device.stack"),
            Evidence("data disks", below.data_disks, Unit.COUNT),
        ),
        remedy=remedy,
        commands=commands,
        source=_SOURCE,
    )


def _mounted_width(site: MountedTarget) -> int | None:
    """What ext4 is mounted for, which counts more than its superblock; `stripe=` is in its blocks."""
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
