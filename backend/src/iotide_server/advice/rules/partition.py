"""Rule: partitions and logical volumes that do not begin on a disk block or a RAID stripe."""

from collections.abc import Iterator
from typing import Final

from iotide_server.advice.findings import Advice, Finding, Fine, Severity, Unknown
from iotide_server.advice.rules.stripes import Stripes, stripes_below
from iotide_server.advice.scene import MountedTarget, Scene
from iotide_wire.facts import FactValue
from iotide_wire.geometry import Stripe, lvm_chunk_choices
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
        if below is not None and str(site.facts.get("device.kind", "")).startswith("partition of"):
            yield _on_stripe(site, below, "partition.start_bytes")
        arrays = _arrays_below(site)
        if arrays is not None and site.facts.get("lvm.target") in {"linear", "striped"}:
            yield _on_stripe(site, arrays, "lvm.offset_bytes")
            yield from _whole_stripes(site, arrays)


def _arrays_below(site: MountedTarget) -> Stripes | None:
    chunk, width = site.number("md.chunk_bytes"), site.number("md.stripe_width_bytes")
    return Stripes(chunk, width, ("md.chunk_bytes", "md.stripe_width_bytes")) if chunk and width else None


def _whole_stripes(site: MountedTarget, arrays: Stripes) -> Iterator[Finding]:
    """Check that the chunk of a striped volume is a multiple of the stripe of each array below."""
    chunk = site.number("lvm.chunk_bytes") if site.facts.get("lvm.target") == "striped" else None
    if not chunk or chunk % arrays.width_bytes == 0:
        return
    choices = lvm_chunk_choices(Stripe(arrays.chunk_bytes, arrays.data_disks))
    yield Advice(
        code=CODE,
        severity=Severity.LOW,
        subject=site.name,
        title="Chunks of the logical volume split stripes of the RAIDs below",
        explanation=(
            f"Each {format_bytes(chunk)} go to another RAID, whose stripes have {format_bytes(arrays.width_bytes)}. A"
            " long write then ends inside a stripe on each RAID, and one with parity must read before it writes."
        ),
        evidence=site.evidence("lvm.chunk_bytes", "lvm.stripe_count", *arrays.facts, "md.level", "device.stack"),
        remedy="Recreate the logical volume, which erases it, with chunks of whole stripes."
        if choices
        else "Recreate the RAIDs, which erases them, with 2, 4 or 8 data disks: LVM's chunks are powers of two.",
        commands=(f"lvcreate -i {site.number('lvm.stripe_count')} -I {choices[0]}b -l 100%FREE -n NAME GROUP",)
        if choices
        else (),
        source="lvcreate(8): the stripe size is a power of two; the same about RAID stripes",
    )


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
    starts = _starts(site.facts.get(fact))
    if not starts:
        return Unknown(CODE, site.name, f"the fact {fact} is missing or not a number: {site.facts.get(fact)}")
    # Of several, the one that is farthest from a boundary.
    start = max(starts, key=lambda one: (one % below.chunk_bytes > 0, one % below.width_bytes))
    if start % below.width_bytes == 0:
        return Fine(site.name, f"begins on a stripe of {format_bytes(below.width_bytes)}")
    is_on_chunk = start % below.chunk_bytes == 0
    boundary = _boundary(below.width_bytes)
    if fact.startswith("lvm"):
        remedy = (
            "Recreate the physical volume, which erases it, with its data on a stripe boundary, and make one volume for"
            " each group. The kernel reports no offset for volumes, so no other tool warns of it."
        )
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


def _starts(given: FactValue) -> list[int]:
    """Return the starts of a fact, which lists different ones."""
    if isinstance(given, int) and not isinstance(given, bool):
        return [given]
    parts = str(given).split(", ")
    return [int(part) for part in parts] if all(part.isdecimal() for part in parts) else []


def _boundary(width_bytes: int) -> int:
    """Return the first multiple of a stripe with room for a partition table or LVM metadata."""
    return -(-MIB // width_bytes) * width_bytes
