"""ZFS: dataset properties that affect writes, and the kinds of devices in its pool."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import ClassVar, Final

from iotide_agent.probes.base import Probe, Texts, known, number, on_mount, text_of, unavailable_fact
from iotide_agent.probes.identity import private
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, FileWant, Unavailable, Want
from iotide_wire.facts import Facts, FactValue

_PACKAGE: Final = "zfsutils-linux"
_PROPERTIES: Final = {
    "recordsize": "zfs.record_bytes",
    "compression": "zfs.compression",
    "checksum": "zfs.checksum",
    "copies": "zfs.copies",
    "dedup": "zfs.dedup",
    "logbias": "zfs.logbias",
    "primarycache": "zfs.primarycache",
    "secondarycache": "zfs.secondarycache",
    "sync": "zfs.sync",
    "atime": "zfs.atime",
    "xattr": "zfs.xattr",
    "encryption": "zfs.encryption",
    "quota": "zfs.quota_bytes",
}
_GROUP: Final = re.compile(r"^[ \t]+((?:mirror|raidz[123]?|draid\d?|spare)\S*?)-\d+[ \t]", re.MULTILINE)
_DIRECT_ENABLED: Final = FileWant("/sys/module/zfs/parameters/zfs_dio_enabled")
"""Exists from ZFS 2.3 on; 0 sends all reads and writes through the ARC."""
_dataset: Final = on_mount(_PACKAGE, "zfs", "get", "-Hp", "-o", "property,value", ",".join(_PROPERTIES), "{0.source}")
# A separate command, because older releases refuse the whole list for one unknown property.
_direct: Final = on_mount(_PACKAGE, "zfs", "get", "-Hp", "-o", "value", "direct", "{0.source}")


class ZfsProbe(Probe):
    name: ClassVar[str] = "zfs"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield from (_dataset(mount), _pool(mount), _devices(mount), _DIRECT_ENABLED)
        if text_of(texts, _DIRECT_ENABLED) == "1":
            yield _direct(mount)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        answer = texts.get(_dataset(mount), Unavailable("zfs was not asked"))
        if isinstance(answer, Unavailable):
            return {"zfs.record_bytes": unavailable_fact(answer)}
        dataset, pool = _pairs(answer), _pairs(text_of(texts, _pool(mount)))
        found = {fact: _value(dataset.get(name)) for name, fact in _PROPERTIES.items()}
        found["zfs.direct"] = text_of(texts, _direct(mount))
        found["zfs.ashift"] = number(pool.get("ashift"))
        groups = Counter(_GROUP.findall(text_of(texts, _devices(mount))))
        found["zfs.groups"] = ", ".join(f"{count} x {kind}" for kind, count in sorted(groups.items()))
        guid = pool.get("guid")
        return known(found) | (private(f"zfs:{guid}:{mount.source}") if guid else {})


def _pool(mount: Mount) -> CommandWant:
    pool = mount.source.partition("/")[0]
    return CommandWant(("zpool", "get", "-Hp", "-o", "property,value", "ashift,guid", pool), _PACKAGE)


def _devices(mount: Mount) -> CommandWant:
    return CommandWant(("zpool", "status", mount.source.partition("/")[0]), _PACKAGE)


def _pairs(text: str) -> dict[str, str]:
    return {name: value for name, tab, value in (line.partition("\t") for line in text.splitlines()) if tab}


def _value(text: str | None) -> FactValue:
    exact = number(text)
    return text if exact is None else exact
