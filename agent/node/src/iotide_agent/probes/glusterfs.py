"""GlusterFS: kind of volume, bricks, copies and changed options, from any of its servers."""

import re
from collections.abc import Iterable
from typing import ClassVar, Final

from iotide_agent.probes import network
from iotide_agent.probes.base import Probe, Texts, known, labelled, number, text_of, unavailable_fact
from iotide_agent.probes.fuse import fuse_name
from iotide_agent.probes.identity import served, shared
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, Unavailable, Want
from iotide_agent.probes.rows import lines_of, read_rows
from iotide_wire.facts import Facts, FactValue

_BRICKS: Final = re.compile(r"^(?:(\d{1,6}) x )?(?:\((\d{1,6}) \+ (\d{1,6})\)|(\d{1,6}))(?: = (\d{1,6}))?$", re.ASCII)
_OPTION: Final = re.compile(r"[a-z][\w-]*\.[\w.-]+")
_VERSION: Final = CommandWant(("glusterfs", "--version"), "glusterfs-client")


class GlusterfsProbe(Probe):
    name: ClassVar[str] = "glusterfs"

    def matches(self, mount: Mount) -> bool:
        return fuse_name(mount) == "glusterfs" or mount.fstype == "glusterfs"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        server, volume = _parts(mount)
        yield _VERSION
        yield _info(server, volume)
        yield from network.wants(server, texts)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """The volume's id is the identity, because nodes may mount it from different servers."""
        server, volume = _parts(mount)
        version = re.search(r"^glusterfs (\d\S*)", text_of(texts, _VERSION))
        facts: Facts = {"gluster.volume": volume}
        facts |= known({"gluster.version": version[1] if version else None}) | network.facts(server, texts)
        info = texts.get(_info(server, volume), Unavailable("gluster was not asked"))
        if isinstance(info, Unavailable):
            return facts | {"gluster.type": unavailable_fact(info)} | served(f"gluster:{server}:{volume}", server)
        found = labelled(info)
        identity = found.get("Volume ID")
        return {
            **facts,
            **known({"gluster.type": found.get("Type"), "gluster.transport": found.get("Transport-type")}),
            **_brick_facts(found),
            **_option_facts(info),
            **(shared(f"gluster:{identity}") if identity else served(f"gluster:{server}:{volume}", server)),
        }


def _parts(mount: Mount) -> tuple[str, str]:
    server, _, volume = mount.source.rpartition(":")
    return server.strip("[]"), volume.strip("/")


def _info(server: str, volume: str) -> CommandWant:
    argv = ("gluster", "--mode=script", f"--remote-host={server}", "volume", "info", volume.partition("/")[0])
    return CommandWant(argv, "glusterfs-cli")


def _brick_facts(found: dict[str, str]) -> Facts:
    """`2 x (2 + 1) = 6` is two sets of two bricks and one for redundancy, or an arbiter."""
    match = _BRICKS.match(found.get("Number of Bricks", ""))
    if not match:
        return {}
    sets, data, extra, plain, total = (number(group) for group in match.groups())
    kind = found.get("Type", "")
    facts: dict[str, FactValue] = {"gluster.brick_count": total or plain}
    if "Disperse" in kind:
        facts |= {"gluster.disperse_data_count": data, "gluster.disperse_redundancy_count": extra}
    elif "Replicate" in kind:
        facts |= {"gluster.replica_count": plain or (data or 0) + (extra or 0), "gluster.arbiter_count": extra}
    facts["gluster.distribute_count"] = sets or (1 if match[5] else plain)
    return known(facts)


def _option_facts(info: str) -> Facts:
    _, heading, below = info.partition("Options Reconfigured:\n")
    options = read_rows("gluster volume info", lines_of(below.partition("\n\n")[0]), _option)
    return {"gluster.options": ",".join(sorted(options))[:2000]} if heading else {}


def _option(line: str) -> str:
    name, value = line.strip().split(": ", 1)
    if not _OPTION.fullmatch(name):
        raise ValueError(line)
    return f"{name}={value}"
