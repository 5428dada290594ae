"""BeeGFS: stripe pattern of new files in the directory, and effective client settings."""

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from iotide_agent.probes import network
from iotide_agent.probes.base import (
    Probe,
    Texts,
    known,
    labelled,
    named_numbers,
    number,
    on_mount,
    text_of,
    unavailable_fact,
)
from iotide_agent.probes.identity import served
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import DirectoryWant, FileWant, Unavailable, Want
from iotide_wire.facts import Facts, FactValue
from iotide_wire.units import GIB, KIB, MIB

_CLIENTS: Final = DirectoryWant("/proc/fs/beegfs")
_NUMBERS: Final = {"tuneFileCacheBufSize": "beegfs.file_cache_bytes", "connMaxInternodeNum": "beegfs.connection_count"}
_SWITCHES: Final = {
    "tuneRemoteFSync": "beegfs.remote_fsync",
    "tuneUseBufferedAppend": "beegfs.buffered_append",
    "connUseRDMA": "beegfs.rdma",
    "sysSessionCheckOnClose": "beegfs.session_check_on_close",
}
_ON_OFF: Final = {"1": True, "true": True, "0": False, "false": False}
_FACTORS: Final = {"": 1, "K": KIB, "M": MIB, "G": GIB}
_SIZE: Final = re.compile(r"^(\d{1,9})([KMG]?)$", re.ASCII)
_pattern: Final = on_mount("beegfs-utils", "beegfs-ctl", "--getentryinfo", "{0.directory}")
_pattern_since_8: Final = on_mount("beegfs-tools", "beegfs", "entry", "info", "--retro", "{0.directory}")
"""--retro prints it as beegfs-ctl did up to release 7."""


class BeegfsProbe(Probe):
    name: ClassVar[str] = "beegfs"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield from (_pattern(mount), _CLIENTS)
        if isinstance(texts.get(_pattern(mount)), Unavailable):
            yield _pattern_since_8(mount)
        yield from _configurations(texts)
        yield from network.wants(_management(mount, texts)[0], texts)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """The identity is host and port of the management service."""
        settings = _settings(mount, texts)
        host, port = _management(mount, texts)
        found: dict[str, FactValue] = {"beegfs.file_cache": settings.get("tuneFileCacheType")}
        found |= {fact: number(settings.get(name)) for name, fact in _NUMBERS.items()}
        found |= {fact: _ON_OFF.get(settings.get(name, "")) for name, fact in _SWITCHES.items()}
        facts = known(found) | _pattern_facts(_printed_pattern(mount, texts))
        if not host:
            return facts | {"fs.identity_scope": "shared"}
        address = network.address_of(host, texts) or host
        return facts | network.facts(host, texts) | served(f"beegfs:{address}:{port}", address)


def _configurations(texts: Texts) -> list[FileWant]:
    return [FileWant(f"{_CLIENTS.path}/{name}/config") for name in text_of(texts, _CLIENTS).split() if name[0] != "."]


def _settings(mount: Mount, texts: Texts) -> dict[str, str]:
    """Return the settings of the mount's client, by configuration file, or of the only one."""
    clients = [named_numbers(text_of(texts, want)) for want in _configurations(texts)]
    file = mount.option("cfgFile")
    own = [client for client in clients if client.get("cfgFile") == file] if file else clients
    return own[0] if len(own) == 1 else {}


def _management(mount: Mount, texts: Texts) -> tuple[str, str]:
    settings = _settings(mount, texts)
    port = settings.get("connMgmtdPort") or settings.get("connMgmtdPortTCP") or settings.get("connMgmtdPortUDP")
    return settings.get("sysMgmtdHost", ""), port or "8008"


def _printed_pattern(mount: Mount, texts: Texts) -> str | Unavailable:
    before_8 = texts.get(_pattern(mount), Unavailable("beegfs-ctl was not asked"))
    since_8 = texts.get(_pattern_since_8(mount), before_8)
    if isinstance(before_8, Unavailable) and isinstance(since_8, Unavailable) and before_8 != since_8:
        return Unavailable(f"{before_8.because}; with BeeGFS 8, {since_8.because}")
    return since_8 if isinstance(before_8, Unavailable) else before_8


def _pattern_facts(pattern: str | Unavailable) -> Facts:
    if isinstance(pattern, Unavailable):
        return {"beegfs.pattern": unavailable_fact(pattern)}
    found = {label.removeprefix("+ "): value for label, value in labelled(pattern).items()}
    targets = re.search(r"desired: (\d+)", found.get("Number of storage targets", ""))
    chunk = _SIZE.match(found.get("Chunksize", ""))
    return known(
        {
            "beegfs.pattern": found.get("Type"),
            "beegfs.chunk_bytes": int(chunk[1]) * _FACTORS[chunk[2]] if chunk else None,
            "beegfs.target_count": number(targets[1]) if targets else None,
            "beegfs.pool": " ".join(found.get("Storage Pool", "").split()),
        }
    )
