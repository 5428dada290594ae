"""read_ahead: how far the kernel reads ahead of a program that reads a file of this mount from begin to end."""

from collections.abc import Iterable
from typing import ClassVar

from iotide_agent.probes.base import Probe, Texts, known, number, text_of
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import FileWant, Want
from iotide_wire.facts import Facts


class ReadAheadProbe(Probe):
    """Any mount whose pages come from somewhere, by the kernel's setting for it."""

    name: ClassVar[str] = "read_ahead"

    def matches(self, mount: Mount) -> bool:
        """All but memory, which has nothing to read ahead from."""
        return mount.fstype != "tmpfs"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        """Two small files of /sys, one of which is there."""
        del texts
        yield from _settings(mount)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """The setting in bytes; the kernel says it in KiB. File systems that do not keep it have no such fact."""
        found = (number(text_of(texts, setting)) for setting in _settings(mount))
        kibibytes = next((value for value in found if value is not None), None)
        return known({"read_ahead.bytes": None if kibibytes is None else kibibytes * 1024})


def _settings(mount: Mount) -> tuple[FileWant, FileWant]:
    """Of a whole disk or a network file system, and of the disk that a partition is on."""
    own = FileWant(f"/sys/class/bdi/{mount.device}/read_ahead_kb")
    return own, FileWant(f"/sys/dev/block/{mount.device}/../bdi/read_ahead_kb")
