"""tmpfs: memory that looks like a file system, so its size and page size are what matters."""

from typing import ClassVar, Final

from iotide_agent.probes.base import Probe, Texts
from iotide_agent.probes.mounts import Mount
from iotide_wire.facts import Facts
from iotide_wire.units import GIB, KIB, MIB

_FACTORS: Final = {"k": KIB, "m": MIB, "g": GIB}


class TmpfsProbe(Probe):
    """Reads nothing but the mount's options."""

    name: ClassVar[str] = "tmpfs"

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        options = dict(option.partition("=")[::2] for option in mount.options)
        facts: Facts = {"tmpfs.huge": options.get("huge", "never"), "tmpfs.swappable": "noswap" not in options}
        size = options.get("size", "")
        digits, suffix = (size[:-1], size[-1:]) if size[-1:] in _FACTORS else (size, "")
        # Without the option the kernel takes half of the memory, which memory.total_bytes says already.
        return facts | {"tmpfs.size_bytes": int(digits) * _FACTORS.get(suffix, 1)} if digits.isdecimal() else facts
