"""Rule: Lustre directories whose new files are on one storage target each."""

from collections.abc import Iterator
from shlex import quote
from typing import Final

from iotide_server.advice.findings import Advice, Finding, Fine, Severity, Unknown
from iotide_server.advice.scene import MountedTarget, Scene

CODE: Final = "lustre_one_target"
_COUNT: Final = "lustre.stripe_count"


def unstriped_files(scene: Scene) -> Iterator[Finding]:
    """Check the default stripe count; a composite layout has its own counts and is fine."""
    for site in scene.sites:
        if site.fstype == "lustre":
            yield _judge(site)


def _judge(site: MountedTarget) -> Finding:
    targets, components = site.number("lustre.ost_count"), site.number("lustre.component_count")
    if components is None:
        return Unknown(CODE, site.name, "the fact lustre.layout is missing")
    if components > 1:
        return Fine(site.name, "new files have a layout of several components")
    if site.facts.get(_COUNT) != 1:
        return Fine(site.name, "new files are striped")
    if targets is None:
        return Unknown(CODE, site.name, "the fact lustre.ost_count is missing")
    if targets == 1:
        return Fine(site.name, "the file system has one storage target")
    return Advice(
        code=CODE,
        severity=Severity.LOW,
        subject=site.name,
        title=f"Each new file is on 1 of {targets} storage targets",
        explanation=(
            "The stripe count of the directory is 1, which is Lustre's default. One file is then as fast as one storage"
            " target (OST). That suits many small files, or a file for each of many writers. A single large file, or"
            " one that many tasks write, measures one target."
        ),
        evidence=site.evidence(_COUNT, "lustre.stripe_bytes", "lustre.ost_count", "lustre.pool"),
        remedy="Measure large shared files in a directory with a higher stripe count. Existing files keep theirs.",
        commands=(f"lfs setstripe --stripe-count -1 {quote(site.mount_point) if site.mount_point else 'DIRECTORY'}",),
        source="lfs-setstripe(1); Lustre Operations Manual, Managing File Layout (Striping) and Free Space",
    )
