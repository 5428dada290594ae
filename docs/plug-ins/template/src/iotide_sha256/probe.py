"""read_ahead: how far the kernel reads ahead when a program reads a file of this mount sequentially."""

from collections.abc import Iterable
from typing import ClassVar

from iotide_agent.probes.base import Probe, Texts, known, number, text_of
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import FileWant, Want
from iotide_wire.facts import Facts


class ReadAheadProbe(Probe):
    """Probe for every mount except memory, by the kernel's setting."""

    name: ClassVar[str] = "read_ahead"

    def matches(self, mount: Mount) -> bool:
        return mount.fstype != "tmpfs"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        """Ask for two small files of /sys; one of them exists."""
        del texts
        yield from _settings(mount)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """Return the setting in bytes; the kernel has it in KiB. File systems without the setting get no fact."""
        found = (number(text_of(texts, setting)) for setting in _settings(mount))
        kibibytes = next((value for value in found if value is not None), None)
        return known({"read_ahead.bytes": None if kibibytes is None else kibibytes * 1024})


def _settings(mount: Mount) -> tuple[FileWant, FileWant]:
    """Return the setting of a disk or network file system, and of the disk that has a partition."""
    own = FileWant(f"/sys/class/bdi/{mount.device}/read_ahead_kb")
    return own, FileWant(f"/sys/dev/block/{mount.device}/../bdi/read_ahead_kb")
