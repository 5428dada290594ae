"""Finds targets that are memory: nothing measured there says anything about storage."""

from collections.abc import Iterator
from typing import Final

from iotide_server.advice.findings import Advice, Evidence, Finding, Severity
from iotide_server.advice.scene import Scene
from iotide_server.targets.mounts import IN_MEMORY

CODE: Final = "target_is_memory"


def memory_targets(scene: Scene) -> Iterator[Finding]:
    """Yield one advice for each target on a node that is a file system in memory."""
    for site in scene.sites:
        if site.fstype in IN_MEMORY:
            yield Advice(
                code=CODE,
                severity=Severity.LOW,
                subject=site.name,
                title=f"This target is memory ({site.fstype}): its numbers are memory numbers",
                explanation=(
                    "Its files never leave the node's memory. No file size and no O_DIRECT changes that, so its numbers"
                    " are an upper limit for the node and no measure of storage."
                ),
                evidence=(Evidence("mount.fstype", site.fstype),),
                remedy="Keep it as a reference for what the node can do. Measure storage on another target.",
                source="tmpfs(5)",
            )
