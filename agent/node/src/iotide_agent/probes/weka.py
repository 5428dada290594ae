"""WekaFS: cache mode and read-ahead of the mount."""

from typing import ClassVar, Final

from iotide_agent.probes.base import Probe, Texts, known, number
from iotide_agent.probes.identity import shared
from iotide_agent.probes.mounts import Mount
from iotide_wire.facts import Facts
from iotide_wire.units import KIB

_CACHE_MODES: Final = ("readcache", "writecache", "coherent", "forcedirect")


class WekaProbe(Probe):
    """See "Mount filesystems" in Weka's documentation for its mount options."""

    name: ClassVar[str] = "weka"

    def matches(self, mount: Mount) -> bool:
        return mount.fstype == "wekafs"

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """The source is `BACKEND/FILE_SYSTEM`, or only the file system with several clusters of one client."""
        kibibytes = number(mount.option("readahead_kb"))
        modes = [mode for mode in _CACHE_MODES if mode in mount.options]
        return {
            "weka.file_system": mount.source_name,
            **known(
                {
                    "weka.cache": ",".join(modes),
                    "weka.read_ahead_bytes": None if kibibytes is None else kibibytes * KIB,
                }
            ),
            **shared(f"weka:{mount.source}"),
        }
