"""Rule: targets in memory, whose results say nothing about storage."""

from collections.abc import Iterator
from typing import Final

from iotide_server.advice.findings import Advice, Evidence, Finding, Severity
from iotide_server.advice.scene import Scene
from iotide_server.targets.mounts import IN_MEMORY

CODE: Final = "target_is_memory"


def memory_targets(scene: Scene) -> Iterator[Finding]:
    for site in scene.sites:
        if site.fstype in IN_MEMORY:
            yield Advice(
                code=CODE,
                severity=Severity.LOW,
                subject=site.name,
                title=f"This target is memory ({site.fstype}): results measure memory, not storage",
                explanation=(
                    "Its files never leave the node's memory, with any file size and also with O_DIRECT. Its results"
                    " are an upper limit for the node and do not measure storage."
                ),
                evidence=(Evidence("mount.fstype", site.fstype),),
                remedy="Use it as a reference for the node's limits. Measure storage on another target.",
                source="tmpfs(5)",
            )
