"""Rule: partitions and logical volumes that do not begin on a disk block or a RAID stripe."""

from collections.abc import Iterator
from typing import Final

from iotide_server.advice.findings import Advice, Finding, Fine, Severity, Unknown
from iotide_server.advice.rules.stripes import Stripes, stripes_below
from iotide_server.advice.scene import MountedTarget, Scene
from iotide_wire.units import MIB, format_bytes

CODE: Final = "offset_misaligned"
_SOURCE: Final = (
    "ADMIN magazine on ext3 and XFS on RAID: LVM and partitions must begin on a stripe; parted(8), pvcreate(8)"
)


def misaligned_offsets(scene: Scene) -> Iterator[Finding]:
    """Check partitions, and volumes in their physical volumes."""
    for site in scene.sites:
        yield from _blocks(site)
        below = stripes_below(site)
        if below is None:
            continue
        if str(site.facts.get("device.kind", "")).startswith("partition of"):
            yield _on_stripe(site, below, "partition.start_bytes")
        elif site.facts.get("lvm.target") == "linear" and site.number("md.stripe_width_bytes"):
            yield _on_stripe(site, below, "lvm.offset_bytes")


def _blocks(site: MountedTarget) -> Iterator[Finding]:
    is_aligned = site.facts.get("partition.aligned")
    if is_aligned is True:
        yield Fine(site.name, "partitions begin on disk blocks")
    elif is_aligned is False:
        yield Advice(
            code=CODE,
            severity=Severity.MEDIUM,
            subject=site.name,
            title="A partition does not begin on a disk block",
            explanation=(
                "Each block of the file system then spans two disk blocks, and each access reads or writes both."
            ),
            evidence=site.evidence("partition.start_bytes", "device.physical_block_bytes", "device.minimum_io_bytes"),
            remedy="Recreate the partition, which erases it, on a boundary of 1 MiB.",
            commands=("parted --align optimal DISK mkpart data 1MiB 100%",),
            source=_SOURCE,
        )


def _on_stripe(site: MountedTarget, below: Stripes, fact: str) -> Finding:
    start = site.facts.get(fact)
    if not isinstance(start, int) or isinstance(start, bool):
        return Unknown(CODE, site.name, f"the fact {fact} is missing or lists several partitions: {start}")
    if start % below.width_bytes == 0:
        return Fine(site.name, f"begins on a stripe of {format_bytes(below.width_bytes)}")
    is_on_chunk = start % below.chunk_bytes == 0
    boundary = _boundary(below.width_bytes)
    if fact.startswith("lvm"):
        remedy = "Recreate the physical volume, which erases it, with its data on a stripe boundary."
        commands = (f"pvcreate --dataalignment {boundary}b DEVICE",)
    else:
        remedy = "Recreate the partition, which erases it, on a stripe boundary."
        commands = (f"parted DEVICE mkpart data {boundary}B 100%",)
    return Advice(
        code=CODE,
        severity=Severity.LOW if is_on_chunk else Severity.MEDIUM,
        subject=site.name,
        title=f"Begins inside a {'stripe' if is_on_chunk else 'chunk'} of the RAID",
        explanation=(
            f"It begins {format_bytes(start)} into the RAID, {start % below.width_bytes} bytes after the last boundary"
            f" of its {format_bytes(below.width_bytes)} stripes. The file system aligns data to its own start, so each"
            " of its stripes covers parts of two RAID stripes."
        ),
        evidence=site.evidence(fact, *below.facts, "device.stack"),
        remedy=remedy,
        commands=commands,
        source=_SOURCE,
    )


def _boundary(width_bytes: int) -> int:
    """Return the first multiple of a stripe with room for a partition table or LVM metadata."""
    return -(-MIB // width_bytes) * width_bytes
