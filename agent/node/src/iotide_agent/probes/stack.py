"""Stack of block devices below a mount in /sys, from the file system's device to the disks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from iotide_agent.probes.base import Texts, named_numbers, on_mount, text_of
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, DirectoryWant, FileWant


@dataclass(frozen=True, slots=True)
class Device:
    """Block device in /sys. `base` has its queue, a guess until its uevent file is read (`known`)."""

    path: str
    base: str
    is_partition: bool
    known: bool

    def read(self, name: str, texts: Texts) -> str:
        return text_of(texts, FileWant(f"{self.base}/{name}"))

    def read_own(self, name: str, texts: Texts) -> str:
        return text_of(texts, FileWant(f"{self.path}/{name}"))

    def names_below(self, texts: Texts) -> list[str]:
        return text_of(texts, DirectoryWant(f"{self.base}/slaves")).split()


def needs_link(mount: Mount) -> bool:
    """True if the file system has its own device number: only the source then leads to the device."""
    return mount.device.startswith("0:") and mount.source.startswith("/dev/")


link: Final = on_mount("coreutils", "readlink", "--canonicalize", "{0.source}")


def links(mount: Mount) -> list[CommandWant]:
    """Return the commands that find the mount's devices; bcachefs separates several by colons."""
    sources = mount.source.split(":") if mount.fstype == "bcachefs" else [mount.source]
    return [link(replace(mount, source=source)) for source in sources]


def devices(mount: Mount, texts: Texts) -> Iterator[Device]:
    """Yield the mount's device and those below it that were read, top down."""
    if needs_link(mount):
        real = filter(None, (text_of(texts, want) for want in links(mount)))
        waiting = [f"/sys/class/block/{PurePosixPath(path).name}" for path in real]
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
    return [device for device in stack if not device.names_below(texts)]
