"""PVFS2 and OrangeFS: servers, and the distribution of a file in the directory."""

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from iotide_agent.probes import network
from iotide_agent.probes.base import Probe, Texts, known, labelled, number, on_mount, text_of, unavailable_fact
from iotide_agent.probes.identity import shared
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, Unavailable, Want
from iotide_wire.facts import Facts, FactValue

_PACKAGE: Final = "orangefs"
_SOURCE: Final = re.compile(r"^(\w+)://([^:/]+)(?::\d+)?/(.*)$")
_DATAFILES: Final = re.compile(r"^Number of datafiles/servers = (\d{1,6})$", re.MULTILINE | re.ASCII)
_DISTRIBUTION: Final = re.compile(r"^dist_name = (\S+)$", re.MULTILINE)
_HINT: Final = re.compile(r'^user\.pvfs2\.(num_dfiles|dist_name|dist_params)="?([^"\n]*)"?$', re.MULTILINE)
_VERSION: Final = CommandWant(("pvfs2-statfs", "-v"), _PACKAGE)
_servers: Final = on_mount(_PACKAGE, "pvfs2-statfs", "-m", "{0.mount_point}")
_hints: Final = on_mount("attr", "getfattr", "--absolute-names", "--dump", r"--match=^user\.pvfs2\.", "{0.directory}")
_any_file: Final = on_mount("findutils", "find", "{0.directory}", *("-maxdepth", "1", "-type", "f", "-print", "-quit"))


class Pvfs2Probe(Probe):
    """Newer kernels still use the name pvfs2."""

    name: ClassVar[str] = "pvfs2"

    def matches(self, mount: Mount) -> bool:
        return mount.fstype in {"pvfs2", "orangefs"}

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        """Directories have no distribution, so a file is read."""
        yield from (_servers(mount), _VERSION, _hints(mount), _any_file(mount))
        file = text_of(texts, _any_file(mount))
        if file:
            yield _distribution(file)
        yield from network.wants(_server(mount), texts)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        servers = texts.get(_servers(mount), Unavailable("pvfs2-statfs was not asked"))
        fsid = number(labelled(text_of(texts, _servers(mount))).get("fs_id"))
        found = _SOURCE.match(mount.source)
        name = found[3] if found else mount.source
        return {
            **_server_facts(servers),
            **known(
                {
                    "pvfs2.version": (text_of(texts, _VERSION).split() or [""])[0][:100],
                    "pvfs2.protocol": found[1] if found else None,
                    "pvfs2.name": name,
                }
            ),
            **_layout_facts(mount, texts),
            **{f"pvfs2.hint.{hint}": value for hint, value in _HINT.findall(text_of(texts, _hints(mount)))},
            **network.facts(_server(mount), texts),
            **shared(f"pvfs2:{fsid if fsid is not None else name}"),
        }


def _server(mount: Mount) -> str:
    found = _SOURCE.match(mount.source)
    return found[2] if found else ""


def _distribution(file: str) -> CommandWant:
    return CommandWant(("pvfs2-viewdist", "-f", file), _PACKAGE)


def _server_facts(statfs: str | Unavailable) -> Facts:
    if isinstance(statfs, Unavailable):
        return {"pvfs2.server_count": unavailable_fact(statfs)}
    _, _, meta = statfs.partition("meta server statistics:")
    meta, _, data = meta.partition("I/O server statistics:")
    metadata_servers, data_servers = (set(re.findall(r"^server: (\S+)$", part, re.MULTILINE)) for part in (meta, data))
    if not data_servers:
        return {"pvfs2.server_count": "unavailable, because pvfs2-statfs named no I/O server"}
    return {
        "pvfs2.server_count": len(metadata_servers | data_servers),
        "pvfs2.metadata_server_count": len(metadata_servers),
        "pvfs2.data_server_count": len(data_servers),
    }


def _layout_facts(mount: Mount, texts: Texts) -> Facts:
    file = text_of(texts, _any_file(mount))
    if not file:
        because = f"{mount.directory} has no file to inspect; create one there"
        return {"pvfs2.distribution": f"unavailable, because {because}"}
    layout = texts.get(_distribution(file), Unavailable("pvfs2-viewdist was not asked"))
    if isinstance(layout, Unavailable):
        return {"pvfs2.distribution": unavailable_fact(layout)}
    distribution, datafiles = _DISTRIBUTION.search(layout), _DATAFILES.search(layout)
    found: dict[str, FactValue] = {
        "pvfs2.distribution": distribution[1] if distribution else None,
        "pvfs2.strip_bytes": number(labelled(layout).get("strip_size")),
        "pvfs2.datafile_count": int(datafiles[1]) if datafiles else None,
    }
    return known(found)
