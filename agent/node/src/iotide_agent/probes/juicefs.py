"""JuiceFS: volume, block size, object storage and write-back, from the file `.config` of its mount."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from iotide_agent.probes.base import Probe, Texts, known, on_mount, text_of, unavailable_fact
from iotide_agent.probes.fuse import fuse_name
from iotide_agent.probes.identity import shared
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import Unavailable, Want
from iotide_wire.facts import Facts, FactValue
from iotide_wire.units import KIB

# A command, because reading a dead mount would hang.
_configuration: Final = on_mount("coreutils", "cat", "{0.mount_point}/.config")


class JuicefsProbe(Probe):
    """The configuration also has addresses and keys, which are no facts."""

    name: ClassVar[str] = "juicefs"

    def matches(self, mount: Mount) -> bool:
        return fuse_name(mount) == "juicefs"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield _configuration(mount)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """The identity is the volume's UUID."""
        answer = texts.get(_configuration(mount), Unavailable("its configuration was not read"))
        if isinstance(answer, Unavailable):
            return {"juicefs.block_bytes": unavailable_fact(answer), "fs.identity_scope": "shared"}
        found = _inner(text_of(texts, _configuration(mount)))
        volume, chunks = (_object(found.get(name)) for name in ("Format", "Chunk"))
        block = volume.get("BlockSize")
        identity = _text(volume.get("UUID"))
        facts: dict[str, FactValue] = {
            "juicefs.volume": _text(volume.get("Name")),
            "juicefs.storage": _text(volume.get("Storage")),
            "juicefs.compression": _text(volume.get("Compression")),
            "juicefs.block_bytes": block * KIB if type(block) is int and block > 0 else None,
            "juicefs.write_back": chunks["Writeback"] if type(chunks.get("Writeback")) is bool else None,
            "juicefs.version": _text(found.get("Version")),
        }
        return known(facts) | (shared(f"juicefs:{identity}") if identity else {"fs.identity_scope": "shared"})


def _inner(text: str) -> Mapping[str, Any]:
    try:
        return _object(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value.strip()[:200] if isinstance(value, str) and not value.strip().isdecimal() else None
