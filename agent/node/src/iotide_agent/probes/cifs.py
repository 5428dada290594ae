"""SMB, by the kernel's client: dialect, transfer sizes, cache and channels in effect."""

from collections.abc import Iterable
from typing import ClassVar, Final

from iotide_agent.probes import network
from iotide_agent.probes.base import Probe, Texts, known, number
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import Want
from iotide_wire.facts import Facts

_NUMBERS: Final = {
    "rsize": "cifs.rsize_bytes",
    "wsize": "cifs.wsize_bytes",
    "bsize": "cifs.block_bytes",
    "actimeo": "cifs.attribute_cache_seconds",
    "max_channels": "cifs.channel_count",
}
_SWITCHES: Final = {"seal": "cifs.encrypted", "sign": "cifs.signed", "multichannel": "cifs.multichannel"}


class CifsProbe(Probe):
    """See mount.cifs(8). The generic probe has the identity, which is the share."""

    name: ClassVar[str] = "cifs"

    def matches(self, mount: Mount) -> bool:
        return mount.fstype in {"cifs", "smb3"}

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield from network.wants(_server(mount), texts)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        return {
            **known({"cifs.version": mount.option("vers"), "cifs.cache": mount.option("cache")}),
            **known({fact: number(mount.option(option)) for option, fact in _NUMBERS.items()}),
            **{fact: option in mount.options for option, fact in _SWITCHES.items()},
            **network.facts(_server(mount), texts),
        }


def _server(mount: Mount) -> str:
    return mount.option("addr") or mount.source.removeprefix("//").partition("/")[0]
