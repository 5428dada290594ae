"""GPFS, now IBM Storage Scale: block size, replicas and pools, and in which fileset the directory lies."""

import re
from collections.abc import Iterable
from typing import ClassVar, Final
from urllib.parse import unquote

from iotide_agent.probes import network
from iotide_agent.probes.base import Probe, Texts, known, labelled, number, on_mount, text_of, unavailable_fact
from iotide_agent.probes.identity import shared
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, Unavailable, Want
from iotide_wire.facts import Facts, FactValue

_BIN: Final = "/usr/lpp/mmfs/bin"
"""Where its commands always are, and PATH seldom leads."""
_PACKAGE: Final = "gpfs.base"
_ATTRIBUTES: Final = {
    "blockSize": ("-B", "gpfs.block_bytes"),
    "minFragmentSize": ("-f", "gpfs.fragment_bytes"),
    "inodeSize": ("-i", "gpfs.inode_bytes"),
    "indirectBlockSize": ("-I", "gpfs.indirect_block_bytes"),
    "subblocksPerFullBlock": ("--subblocks-per-full-block", "gpfs.subblock_count"),
    "defaultMetadataReplicas": ("-m", "gpfs.metadata_replica_count"),
    "defaultDataReplicas": ("-r", "gpfs.data_replica_count"),
    "blockAllocationType": ("-j", "gpfs.block_allocation"),
    "fileLockingSemantics": ("-D", "gpfs.locking"),
    "numNodes": ("-n", "gpfs.estimated_node_count"),
    "logfileSize": ("-L", "gpfs.log_bytes"),
    "filesystemVersion": ("-V", "gpfs.version"),
    "storagePools": ("-P", "gpfs.pools"),
    "suppressAtime": ("-S", "gpfs.suppress_atime"),
    "exactMtime": ("-E", "gpfs.exact_mtime"),
    "encryption": ("--encryption", "gpfs.encryption"),
}
"""Names of `mmlsfs -Y`, the flags of the same in the table for people, and the facts."""
_DISKS: Final = ("disks", "-d")
_ROW: Final = re.compile(r"^ {0,2}(-\S+)[ \t]+(\S+(?: \(\S+\))?)", re.MULTILINE)
_FIELDS: Final = 9
_CLUSTER: Final = CommandWant((f"{_BIN}/mmlscluster",), _PACKAGE)
_OWN_ADDRESSES: Final = CommandWant(("hostname", "--all-ip-addresses"), "hostname")
_NODE: Final = re.compile(r"^ +\d+ +\S+ +([0-9a-fA-F.:]+) +\S+ +quorum", re.MULTILINE)
"""A row of mmlscluster: number, daemon node name, its address, admin node name, designation."""
_machine_readable: Final = on_mount(_PACKAGE, f"{_BIN}/mmlsfs", "{0.source_name}", "-Y")
_table: Final = on_mount(_PACKAGE, f"{_BIN}/mmlsfs", "{0.source_name}")
_directory: Final = on_mount(_PACKAGE, f"{_BIN}/mmlsattr", "-L", "{0.directory}")


class GpfsProbe(Probe):
    """GPFS clients and servers."""

    name: ClassVar[str] = "gpfs"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        """Attributes of the file system, as a table where a release does not know -Y, and of the directory."""
        yield from (_machine_readable(mount), _directory(mount), _CLUSTER, _OWN_ADDRESSES)
        yield from network.wants(_quorum_node(texts), texts)
        if isinstance(texts.get(_machine_readable(mount)), Unavailable):
            yield _table(mount)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """Known by its UID where the release tells it, which holds across clusters, else by its name."""
        attributes = _read_attributes(mount, texts)
        uid = attributes.get("UID", [""])[0]
        identity = shared(f"gpfs:{uid.lower() or mount.source_name}")
        link = _link_facts(texts)
        if not attributes:
            answer = texts.get(_table(mount), texts.get(_machine_readable(mount)))
            reason = answer if isinstance(answer, Unavailable) else Unavailable("mmlsfs printed no attributes")
            return {"gpfs.block_bytes": unavailable_fact(reason)} | identity | link
        found: dict[str, FactValue] = {
            fact: _value(attributes[name]) for name, (_, fact) in _ATTRIBUTES.items() if name in attributes
        }
        disks = {disk for value in attributes.get("disks", []) for disk in re.split(r"[;,]", value) if disk}
        found["gpfs.disk_count"] = len(disks) or None
        return known(found) | _directory_facts(text_of(texts, _directory(mount))) | identity | link


def _quorum_node(texts: Texts) -> str:
    """The address of the daemon of another quorum node: all daemons of a cluster reach each other by one network."""
    own = set(text_of(texts, _OWN_ADDRESSES).split())
    return min((address for address in _NODE.findall(text_of(texts, _CLUSTER)) if address not in own), default="")


def _link_facts(texts: Texts) -> Facts:
    """The link to the daemons' network; which node was asked for is no fact, as no node serves a file system alone."""
    found = network.facts(_quorum_node(texts), texts)
    return {name: value for name, value in found.items() if name != "network.server"}


def _read_attributes(mount: Mount, texts: Texts) -> dict[str, list[str]]:
    """Values by their names in -Y; several where pools differ or a flag has several lines."""
    found: dict[str, list[str]] = {}
    for line in text_of(texts, _machine_readable(mount)).splitlines():
        fields = [unquote(part) for part in line.split(":")]
        if len(fields) >= _FIELDS and fields[0] == "mmlsfs" and fields[2] != "HEADER":
            found.setdefault(fields[7], []).append(fields[8])
    if found:
        return found
    names = {flag: name for name, (flag, _) in _ATTRIBUTES.items()} | {_DISKS[1]: _DISKS[0]}
    for flag, value in _ROW.findall(text_of(texts, _table(mount))):
        if flag in names:
            found.setdefault(names[flag], []).append(value)
    return found


def _value(values: list[str]) -> FactValue:
    distinct = list(dict.fromkeys(values))
    single = number(distinct[0]) if len(distinct) == 1 else None
    return ", ".join(distinct)[:500] if single is None else single


def _directory_facts(attributes: str) -> Facts:
    found = labelled(attributes)
    return known(
        {
            "gpfs.fileset": found.get("fileset name"),
            "gpfs.pool": found.get("storage pool name"),
            # "1 max 2": what the directory's files get, and the most that the file system allows
            "gpfs.directory_data_replica_count": number(found.get("data replication", "").partition(" ")[0]),
            "gpfs.directory_metadata_replica_count": number(found.get("metadata replication", "").partition(" ")[0]),
        }
    )
