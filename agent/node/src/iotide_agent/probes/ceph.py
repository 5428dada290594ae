"""CephFS with the kernel client or ceph-fuse: OSDs, their release, and the layout of the directory."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final

from iotide_agent.probes import network
from iotide_agent.probes.base import Probe, Texts, known, number, on_mount, text_of, unavailable_fact
from iotide_agent.probes.fuse import fuse_name
from iotide_agent.probes.identity import shared
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, Unavailable, Want
from iotide_agent.probes.rows import lines_of, read_rows
from iotide_wire.facts import Facts, FactValue

_PACKAGE: Final = "ceph-common"
_CEPH: Final = ("ceph", "--connect-timeout", "5")
STATUS: Final = CommandWant((*_CEPH, "status", "--format", "json"), _PACKAGE)
_VERSIONS: Final = CommandWant((*_CEPH, "versions", "--format", "json"), _PACKAGE)
_FILE_SYSTEMS: Final = CommandWant((*_CEPH, "fs", "status"), _PACKAGE)
_NAMED_SOURCE: Final = re.compile(r"^[^@]*@([0-9a-f-]{36})?\.([^=]+)=(/.*)$")
"""`user@fsid.name=/directory`, since kernel 5.17."""
_MONITORS_SOURCE: Final = re.compile(r"^(\[[^\]]+\]|[^:,/@]+)(?::\d+)?[^/]*:(/.*)$")
_FILE_SYSTEM: Final = re.compile(r"^(\S+) - \d+ clients?$", re.MULTILINE)
_COLOUR: Final = re.compile(r"\x1b?\[[0-9;]*m")
_BUSY: Final = frozenset(
    {"degraded", "undersized", "peering", "down", "incomplete", "stale", "inconsistent", "repair"}
    | {"recovering", "recovery_wait", "recovery_toofull", "backfilling", "backfill_wait", "backfill_toofull"}
)
"""States with a missing disk or moving data; `active+clean+remapped` may be permanent."""
_MOST_TEXT: Final = 100
_layout: Final = on_mount(
    "attr", "getfattr", "--absolute-names", "--only-values", "--name=ceph.dir.layout", "{0.directory}"
)


def is_ceph(mount: Mount) -> bool:
    return mount.fstype == "ceph" or fuse_name(mount) == "ceph-fuse"


def troubles(status: str) -> list[str]:
    """Return the problems in `ceph status --format json`.

    Scrubs are left out, because a large cluster always scrubs. OSDs down and out no longer hold data.
    """
    answer = _object(status)
    osds = _inner(answer, "osdmap")
    in_use, up = _count(osds.get("num_in_osds")), _count(osds.get("num_up_osds"))
    found = [f"ceph: {up} OSDs up, {in_use} in"] if in_use is not None and up is not None and up < in_use else []
    states = _inner(answer, "pgmap").get("pgs_by_state")
    return found + read_rows("ceph status", states if isinstance(states, list) else (), _busy_state)


def _busy_state(state: dict[str, Any]) -> str | None:
    name, count = str(state["state_name"])[:_MOST_TEXT], int(state["count"])
    return None if _BUSY.isdisjoint(name.split("+")) else f"ceph: {count} placement groups {name}"


def is_readable(status: str) -> bool:
    answer = _object(status)
    return bool(_inner(answer, "osdmap")) and bool(_inner(answer, "pgmap"))


class CephProbe(Probe):
    name: ClassVar[str] = "ceph"

    def matches(self, mount: Mount) -> bool:
        return is_ceph(mount)

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        yield from (STATUS, _VERSIONS, _FILE_SYSTEMS, _layout(mount))
        yield from network.wants(_monitor(mount), texts)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """The identity is fsid and file system name, or the monitors if neither is available."""
        status = texts.get(STATUS, Unavailable("ceph was not asked"))
        answer = _object(text_of(texts, STATUS))
        unavailable: Facts = {"ceph.osd_count": unavailable_fact(status)} if isinstance(status, Unavailable) else {}
        named = _NAMED_SOURCE.match(mount.source)
        fsid = (named[1] if named else None) or _text(answer.get("fsid"))
        file_systems = _COLOUR.sub("", text_of(texts, _FILE_SYSTEMS))
        name = _name(mount, file_systems)
        osds = _inner(answer, "osdmap")
        return {
            **unavailable,
            **known(
                {
                    "ceph.fsid": fsid,
                    "ceph.file_system": name,
                    "ceph.osd_count": _count(osds.get("num_osds")),
                    "ceph.osd_up_count": _count(osds.get("num_up_osds")),
                    "ceph.versions": _versions(texts),
                    "ceph.data_pools": _data_pools(file_systems),
                }
            ),
            **_layout_facts(text_of(texts, _layout(mount))),
            **network.facts(_monitor(mount), texts),
            **_identity(mount, fsid, name),
        }


def _monitor(mount: Mount) -> str:
    """Newer kernels list the monitors in the options, separated by `/`."""
    found = _MONITORS_SOURCE.match(mount.source)
    address = found[1] if found else mount.option("mon_addr").partition("/")[0].rpartition(":")[0]
    return address.strip("[]")


def _name(mount: Mount, file_systems: str) -> str:
    named = _NAMED_SOURCE.match(mount.source)
    if named:
        return named[2]
    names = _FILE_SYSTEM.findall(file_systems)
    # Without a name the cluster's default is mounted; it is known only if there is just one.
    only = names[0] if len(names) == 1 else ""
    return mount.option("mds_namespace") or mount.option("fs") or only


def _identity(mount: Mount, fsid: str | None, name: str) -> Facts:
    if fsid:
        return shared(f"ceph:{fsid}:{name}")
    return shared(f"ceph:{mount.source}") if mount.fstype == "ceph" else {"fs.identity_scope": "shared"}


def _versions(texts: Texts) -> str:
    overall = _inner(_object(text_of(texts, _VERSIONS)), "overall")
    return ",".join(sorted(set(read_rows("ceph versions", overall, _release))))


def _release(printed: str) -> str:
    program, version, release, *_ = printed.split()
    if (program, version) != ("ceph", "version") or not release[0].isdecimal():
        raise ValueError(printed)
    return release


def _data_pools(file_systems: str) -> str:
    return ",".join(sorted(read_rows("ceph fs status", _pool_rows(file_systems), _data_pool)))[:500]


def _pool_rows(file_systems: str) -> Iterator[str]:
    """Yield the rows of each file system's table with the columns POOL, TYPE, USED and AVAIL."""
    is_pool = False
    for line in lines_of(file_systems):
        if line.split()[:2] == ["POOL", "TYPE"]:
            is_pool = True
        elif _FILE_SYSTEM.match(line) or line.startswith(("MDS version", "STANDBY MDS")):
            is_pool = False
        elif is_pool:
            yield line


def _data_pool(line: str) -> str | None:
    pool, kind, _, _ = line.split()
    return pool if kind == "data" else None


def _layout_facts(layout: str) -> Facts:
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
    """Before Octopus, osdmap had a second osdmap inside."""
    found = answer.get(name)
    again = found.get(name, found) if isinstance(found, dict) else None
    return again if isinstance(again, dict) else {}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _text(value: object) -> str | None:
    return value[:_MOST_TEXT] if isinstance(value, str) else None
