"""The stack of block devices below a mount as /sys has it: from the device of the file system to the disks."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from iotide_agent.probes.base import Texts, named_numbers, on_mount, text_of
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import DirectoryWant, FileWant


@dataclass(frozen=True, slots=True)
class Device:
    """A block device in /sys; `base` has its queue, a guess until the device is `known` by its uevent file."""

    path: str
    base: str
    is_partition: bool
    known: bool

    def read(self, name: str, texts: Texts) -> str:
        """Text of a file of the whole disk; empty where there is none."""
        return text_of(texts, FileWant(f"{self.base}/{name}"))

    def read_own(self, name: str, texts: Texts) -> str:
        """Text of a file of the device itself, be it a partition."""
        return text_of(texts, FileWant(f"{self.path}/{name}"))

    def names_below(self, texts: Texts) -> list[str]:
        """Kernel names of the devices that it is made of."""
        return text_of(texts, DirectoryWant(f"{self.base}/slaves")).split()


def needs_link(mount: Mount) -> bool:
    """Whether only the source leads to the device, since the file system has a number of its own."""
    return mount.device.startswith("0:") and mount.source.startswith("/dev/")


link: Final = on_mount("coreutils", "readlink", "--canonicalize", "{0.source}")
"""Asks what the source, often a symbolic link of /dev/mapper, leads to."""


def devices(mount: Mount, texts: Texts) -> Iterator[Device]:
    """The device of the mount and those below it, as far as was read, each once, from the top down."""
    if needs_link(mount):
        real = text_of(texts, link(mount))
        waiting = [f"/sys/class/block/{PurePosixPath(real).name}"] if real else []
    else:
        waiting = [f"/sys/dev/block/{mount.device}"]
    seen: set[str] = set()
    while waiting:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        uevent = named_numbers(text_of(texts, FileWant(f"{path}/uevent")))
        is_partition = uevent.get("DEVTYPE") == "partition"
        device = Device(path, f"{path}/.." if is_partition else path, is_partition, known=bool(uevent))
        yield device
        waiting += [f"/sys/class/block/{name}" for name in device.names_below(texts)]


def disks_of(stack: list[Device], texts: Texts) -> list[Device]:
    """Those at the bottom."""
    return [device for device in stack if not device.names_below(texts)]
