"""CephFS, by the kernel's client and by ceph-fuse: the OSDs, their release, and the layout of the directory."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from iotide_agent.probes import network
from iotide_agent.probes.base import Probe, Texts, known, number, on_mount, text_of, unavailable_fact
from iotide_agent.probes.fuse import fuse_name
from iotide_agent.probes.identity import shared
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, Unavailable, Want
from iotide_wire.facts import Facts, FactValue

_PACKAGE: Final = "ceph-common"
_CEPH: Final = ("ceph", "--connect-timeout", "5")
STATUS: Final = CommandWant((*_CEPH, "status", "--format", "json"), _PACKAGE)
_VERSIONS: Final = CommandWant((*_CEPH, "versions", "--format", "json"), _PACKAGE)
_FILE_SYSTEMS: Final = CommandWant((*_CEPH, "fs", "status"), _PACKAGE)
_NAMED_SOURCE: Final = re.compile(r"^[^@]*@([0-9a-f-]{36})?\.([^=]+)=(/.*)$")
"""`user@fsid.name=/directory`, of kernels since 5.17."""
_MONITORS_SOURCE: Final = re.compile(r"^(\[[^\]]+\]|[^:,/@]+)(?::\d+)?[^/]*:(/.*)$")
_FILE_SYSTEM: Final = re.compile(r"^(\S+) - \d+ clients?$", re.MULTILINE)
_COLOUR: Final = re.compile(r"\x1b?\[[0-9;]*m")
_BUSY: Final = frozenset(
    {"degraded", "undersized", "peering", "down", "incomplete", "stale", "inconsistent", "repair"}
    | {"recovering", "recovery_wait", "recovery_toofull", "backfilling", "backfill_wait", "backfill_toofull"}
)
"""States of placement groups in which a disk is absent or data is on its way. One may rest `active+clean+remapped`."""
_POOL: Final = re.compile(r"^[ \t]*(\S+)[ \t]+data[ \t]", re.MULTILINE)
_layout: Final = on_mount(
    "attr", "getfattr", "--absolute-names", "--only-values", "--name=ceph.dir.layout", "{0.directory}"
)


def is_ceph(mount: Mount) -> bool:
    """Whether a mount is of the kernel's client or of ceph-fuse."""
    return mount.fstype == "ceph" or fuse_name(mount) == "ceph-fuse"


def troubles(status: str) -> list[str]:
    """What `ceph status --format json` tells of a cluster that lacks a part or works for itself.

    Scrubs are left out: of many placement groups some are always being scrubbed. So are OSDs that are down and out, on
    which no data lies any more.
    """
    answer = _object(status)
    osds = _inner(answer, "osdmap")
    in_use, up = _count(osds.get("num_in_osds")), _count(osds.get("num_up_osds"))
    found = [f"ceph: {up} OSDs up, {in_use} in"] if in_use is not None and up is not None and up < in_use else []
    states = _inner(answer, "pgmap").get("pgs_by_state")
    for state in states if isinstance(states, list) else ():
        name = _text(state.get("state_name")) if isinstance(state, dict) else None
        if name and not _BUSY.isdisjoint(name.split("+")):
            found.append(f"ceph: {_count(state.get('count'))} placement groups {name}")
    return found


def is_readable(status: str) -> bool:
    """Return true where the status names OSDs and placement groups, without which `troubles` finds none."""
    answer = _object(status)
    return bool(_inner(answer, "osdmap")) and bool(_inner(answer, "pgmap"))


class CephProbe(Probe):
    """Clients of CephFS."""

    name: ClassVar[str] = "ceph"

    def matches(self, mount: Mount) -> bool:
        return is_ceph(mount)

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield from (STATUS, _VERSIONS, _FILE_SYSTEMS, _layout(mount))
        yield from network.wants(_monitor(mount), texts)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """Known by the cluster's fsid and the file system's name; by its monitors where neither can be asked."""
        status = texts.get(STATUS, Unavailable("ceph was not asked"))
        answer = _object(text_of(texts, STATUS))
        told: Facts = {"ceph.osd_count": unavailable_fact(status)} if isinstance(status, Unavailable) else {}
        named = _NAMED_SOURCE.match(mount.source)
        fsid = (named[1] if named else None) or _text(answer.get("fsid"))
        file_systems = _COLOUR.sub("", text_of(texts, _FILE_SYSTEMS))
        name = _name(mount, file_systems)
        osds = _inner(answer, "osdmap")
        return {
            **told,
            **known(
                {
                    "ceph.fsid": fsid,
                    "ceph.file_system": name,
                    "ceph.osd_count": _count(osds.get("num_osds")),
                    "ceph.osd_up_count": _count(osds.get("num_up_osds")),
                    "ceph.versions": _versions(texts),
                    "ceph.data_pools": ",".join(sorted(_POOL.findall(file_systems)))[:500],
                }
            ),
            **_layout_facts(text_of(texts, _layout(mount))),
            **network.facts(_monitor(mount), texts),
            **_identity(mount, fsid, name),
        }


def _monitor(mount: Mount) -> str:
    """Host of the first monitor; newer kernels have them among the options, parted by `/`."""
    found = _MONITORS_SOURCE.match(mount.source)
    address = found[1] if found else mount.option("mon_addr").partition("/")[0].rpartition(":")[0]
    return address.strip("[]")


def _name(mount: Mount, file_systems: str) -> str:
    named = _NAMED_SOURCE.match(mount.source)
    if named:
        return named[2]
    names = _FILE_SYSTEM.findall(file_systems)
    # Without a name the cluster's default is mounted, which is certain only where there is one.
    only = names[0] if len(names) == 1 else ""
    return mount.option("mds_namespace") or mount.option("fs") or only


def _identity(mount: Mount, fsid: str | None, name: str) -> Facts:
    if fsid:
        return shared(f"ceph:{fsid}:{name}")
    return shared(f"ceph:{mount.source}") if mount.fstype == "ceph" else {"fs.identity_scope": "shared"}


def _versions(texts: Texts) -> str:
    overall = _inner(_object(text_of(texts, _VERSIONS)), "overall")
    found = {match[1] for release in overall if (match := re.match(r"ceph version (\d\S*)", release))}
    return ",".join(sorted(found))


def _layout_facts(layout: str) -> Facts:
    """A directory without a layout of its own has no such attribute."""
    fields = dict(pair.partition("=")[::2] for pair in layout.split())
    found: dict[str, FactValue] = {
        "ceph.stripe_unit_bytes": number(fields.get("stripe_unit")),
        "ceph.stripe_count": number(fields.get("stripe_count")),
        "ceph.object_bytes": number(fields.get("object_size")),
        "ceph.pool": fields.get("pool"),
    }
    return known(found)


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _inner(answer: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object of that name; before Octopus the osdmap stood in one of its own name."""
    found = answer.get(name)
    again = found.get(name, found) if isinstance(found, dict) else None
    return again if isinstance(again, dict) else {}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _text(value: object) -> str | None:
    return value[:100] if isinstance(value, str) else None
