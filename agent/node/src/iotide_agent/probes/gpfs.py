"""GPFS (IBM Storage Scale): block size, replicas, pools and the directory's fileset."""

import re
from collections.abc import Iterable
from ipaddress import ip_address
from typing import ClassVar, Final
from urllib.parse import unquote

from iotide_agent.probes import network
from iotide_agent.probes.base import Probe, Texts, known, labelled, number, on_mount, text_of, unavailable_fact
from iotide_agent.probes.identity import shared
from iotide_agent.probes.mounts import Mount
from iotide_agent.probes.reader import CommandWant, Unavailable, Want
from iotide_agent.probes.rows import lines_of, read_rows
from iotide_wire.facts import Facts, FactValue

_BIN: Final = "/usr/lpp/mmfs/bin"
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
"""Names in `mmlsfs -Y`, flags in its table, and facts."""
_DISKS: Final = ("disks", "-d")
_ROW: Final = re.compile(r"^ {0,2}(-\S+)[ \t]+(\S+(?: \(\S+\))?)", re.MULTILINE)
_FIELDS: Final = 9
_CLUSTER: Final = CommandWant((f"{_BIN}/mmlscluster",), _PACKAGE)
_OWN_ADDRESSES: Final = CommandWant(("hostname", "--all-ip-addresses"), "hostname")
_NODES: Final = re.compile(r"^ *-{20,}\n((?: *\S.*\n?)*)", re.MULTILINE)
"""Rows of mmlscluster below the line of dashes that follows the heading, up to a blank line."""
_machine_readable: Final = on_mount(_PACKAGE, f"{_BIN}/mmlsfs", "{0.source_name}", "-Y")
_table: Final = on_mount(_PACKAGE, f"{_BIN}/mmlsfs", "{0.source_name}")
_directory: Final = on_mount(_PACKAGE, f"{_BIN}/mmlsattr", "-L", "{0.directory}")


class GpfsProbe(Probe):
    name: ClassVar[str] = "gpfs"

    def wants(self, mount: Mount, texts: Texts) -> Iterable[Want]:
        """Older releases have no -Y and print a table."""
        yield from (_machine_readable(mount), _directory(mount), _CLUSTER, _OWN_ADDRESSES)
        yield from network.wants(_quorum_node(texts), texts)
        if isinstance(texts.get(_machine_readable(mount)), Unavailable):
            yield _table(mount)

    def facts(self, mount: Mount, texts: Texts) -> Facts:
        """The identity is the UID, unique across clusters, or else the name."""
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
    """Return the daemon address of another quorum node; all daemons of a cluster share one network."""
    own = set(text_of(texts, _OWN_ADDRESSES).split())
    table = _NODES.search(text_of(texts, _CLUSTER) + "\n")
    quorum = read_rows("mmlscluster", lines_of(table[1]) if table else (), _quorum_address)
    return min((address for address in quorum if address not in own), default="")


def _quorum_address(line: str) -> str | None:
    """Read number, daemon node name, its address, admin node name and, except for clients, designation."""
    node, _, address, _, *designation = line.split()
    ip_address(address)
    return address if int(node) and designation and designation[0].startswith("quorum") else None


def _link_facts(texts: Texts) -> Facts:
    """The serving node is no fact, because no single node serves a file system."""
    found = network.facts(_quorum_node(texts), texts)
    return {name: value for name, value in found.items() if name != "network.server"}


def _read_attributes(mount: Mount, texts: Texts) -> dict[str, list[str]]:
    """Return values by their -Y names; several if pools differ or a flag has several lines."""
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
            # "1 max 2": the directory's value and the file system's maximum
            "gpfs.directory_data_replica_count": number(found.get("data replication", "").partition(" ")[0]),
            "gpfs.directory_metadata_replica_count": number(found.get("metadata replication", "").partition(" ")[0]),
        }
    )
