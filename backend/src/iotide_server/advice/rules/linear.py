"""Rule: linear logical volumes over several disks, where each file is on one disk at a time."""

from collections.abc import Iterator
from typing import Final

from iotide_server.advice.findings import Advice, Finding, Fine, Severity, Unknown
from iotide_server.advice.scene import MountedTarget, Scene, unavailable
from iotide_wire.scratch_vocabulary import LAYOUT_FACT, WITH_BITMAP, LayoutKind, LvmKind
from iotide_wire.striping import Layout, parse_layout

CODE: Final = "linear_volume"
_TARGET: Final = "lvm.target"


def linear_volumes(scene: Scene) -> Iterator[Finding]:
    for site in scene.sites:
        if "lvm.name" in site.facts:
            yield _judge(site)


def _judge(site: MountedTarget) -> Finding:
    target, devices = str(site.facts.get(_TARGET) or ""), site.number("lvm.device_count") or 1
    made = _made(site)
    if not target or unavailable(target):
        if made is None:
            return Unknown(CODE, site.name, f"the fact {_TARGET} is missing: only root can read the volume's segments")
        target, devices = str(made.lvm), made.disks if made.kind is LayoutKind.LVM else made.arrays
    if "linear" not in target.split(", ") or devices == 1:
        return Fine(site.name, "its logical volume is striped, or on one device")
    part = "Its logical volume" if target == "linear" else "A part of its logical volume"
    return Advice(
        code=CODE,
        severity=Severity.LOW if made is not None and made.lvm is LvmKind.LINEAR else Severity.MEDIUM,
        subject=site.name,
        title=f"{part} is linear over {devices} devices: a file is on one of them at a time",
        explanation=(
            "A linear volume fills one device after another. Throughput is that of one device, and it changes when the"
            " data reaches the next. Only a striped volume uses all of them for one file."
        ),
        evidence=site.evidence(
            *(_TARGET, "lvm.segment_count", "lvm.segment_bytes", "lvm.device_count"),
            *("disk.count", "device.stack", LAYOUT_FACT),
        ),
        remedy="Recreate the logical volume with stripes, which erases it.",
        commands=(
            f"lvcreate --type striped --stripes {devices} --stripesize 128k --extents 100%FREE --name NAME GROUP",
        ),
        source="lvmraid(7), lvcreate(8); a published comparison whose authors lost a run to it",
    )


def _made(site: MountedTarget) -> Layout | None:
    """Return the layout of logical volumes that a plan had the node make, to measure it."""
    text = str(site.facts.get(LAYOUT_FACT, "")).removesuffix(WITH_BITMAP)
    return parse_layout(text) if text.startswith("lvm ") else None
