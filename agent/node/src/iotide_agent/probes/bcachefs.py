"""bcachefs: devices, copies, compression and tiers, by the options of the mount."""

from typing import ClassVar, Final

from iotide_agent.probes.base import Probe, Texts, known, number
from iotide_agent.probes.mounts import Mount
from iotide_wire.facts import Facts

_NUMBERS: Final = {
    "data_replicas": "bcachefs.data_replica_count",
    "metadata_replicas": "bcachefs.metadata_replica_count",
}
_TEXTS: Final = (
    *("compression", "background_compression", "data_checksum", "metadata_checksum", "str_hash"),
    *("foreground_target", "background_target", "promote_target", "metadata_target"),
)


class BcachefsProbe(Probe):
    """See the options in bcachefs(8). The kernel shows those that differ from the file system's defaults."""

    name: ClassVar[str] = "bcachefs"

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        return {
            "bcachefs.device_count": len(mount.source.split(":")),
            "bcachefs.erasure_code": "erasure_code" in mount.options,
            "bcachefs.nocow": "nocow" in mount.options,
            **known({fact: number(mount.option(option)) for option, fact in _NUMBERS.items()}),
            **known({f"bcachefs.{option}": mount.option(option) for option in _TEXTS}),
        }
