"""Rules: NFS mounts that lose speed or data by small transfers, synchronous writes, UDP or old versions."""

from collections.abc import Iterator
from typing import Final

from iotide_server.advice.findings import Advice, Finding, Fine, Severity, Unknown
from iotide_server.advice.scene import MountedTarget, Scene
from iotide_wire.units import KIB, MIB, format_bytes

LARGE_TRANSFER_BYTES: Final = MIB
SMALL_TRANSFER_BYTES: Final = 128 * KIB
_OLD_VERSIONS: Final = {
    "2": "Version 2 transfers at most 8 KiB at a time, supports files up to 2 GiB, and each write waits for the disk"
    " (RFC 1094).",
    "4.0": "Version 4.0 has no sessions, so a client can use neither several connections nor pNFS. Version 4.1 has"
    " both (RFC 8881).",
}
"""Version 3 is missing, because it costs nothing."""


def small_transfers(scene: Scene) -> Iterator[Finding]:
    """Check rsize and wsize as in effect, which may be less than requested."""
    code = "nfs_small_transfers"
    for site in _mounts(scene):
        sizes = {name: site.number(f"nfs.{name}_bytes") for name in ("rsize", "wsize")}
        unknown = [name for name, size in sizes.items() if size is None]
        if unknown:
            yield Unknown(code, site.name, f"the fact nfs.{unknown[0]}_bytes is missing")
            continue
        small = {name: size for name, size in sizes.items() if size and size < LARGE_TRANSFER_BYTES}
        if not small:
            yield Fine(site.name, "rsize and wsize are 1 MiB or more")
            continue
        yield Advice(
            code=code,
            severity=Severity.MEDIUM if min(small.values()) < SMALL_TRANSFER_BYTES else Severity.LOW,
            subject=site.name,
            title=" and ".join(f"{name} is {format_bytes(size)}" for name, size in small.items()),
            explanation=(
                "Each request transfers no more than that, so a stream needs many requests and waits for each round"
                " trip. Client and server agree on the smaller of their limits. If neither side set it, it is the"
                " server's limit."
            ),
            evidence=site.evidence(
                "nfs.rsize_bytes", "nfs.wsize_bytes", "nfs.version", "nfs.transport", "mount.options"
            ),
            remedy=(
                "Unmount and mount without rsize and wsize, or with these values. If they stay small, raise the"
                " server's limit while its nfsd is stopped."
            ),
            commands=(
                site.mount_command(_options(site)),
                f"echo {LARGE_TRANSFER_BYTES} > /proc/fs/nfsd/max_block_size",
            ),
            source="nfs(5), rsize and wsize; nfsd(7), max_block_size",
        )


def _options(site: MountedTarget) -> str:
    version = site.facts.get("nfs.version")
    sizes = f"rsize={LARGE_TRANSFER_BYTES},wsize={LARGE_TRANSFER_BYTES}"
    return f"{sizes},vers={version}" if version else sizes


def waiting_writes(scene: Scene) -> Iterator[Finding]:
    """Yield mounts with `sync`, or with `noac`, which implies it."""
    code = "nfs_sync"
    for site in _mounts(scene):
        is_sync, has_cache = site.facts.get("nfs.sync"), site.facts.get("nfs.attribute_cache")
        if is_sync is None:
            yield Unknown(code, site.name, "the fact nfs.sync is missing")
        elif is_sync is True or has_cache is False:
            # With noac, the kernel also mounts with sync.
            option = "noac" if has_cache is False else "sync"
            yield Advice(
                code=code,
                severity=Severity.MEDIUM,
                subject=site.name,
                title=f"Mounted with {option}: each write waits for the server",
                explanation=(
                    "The client does not combine writes: each write call goes to the server at once and returns when"
                    " the data is on stable storage. Results measure one round trip and one flush per call, not how"
                    " fast data can be stored."
                    + ("" if option == "sync" else " noac also requests attributes from the server each time.")
                ),
                evidence=site.evidence("nfs.sync", "nfs.attribute_cache", "nfs.wsize_bytes", "mount.options"),
                remedy=f"Mount without {option}, unless you want to measure it. fsync still flushes.",
                commands=(site.mount_command("async" if option == "sync" else "ac"),),
                source="nfs(5), the sync mount option, and ac / noac",
            )
        else:
            yield Fine(site.name, "mounted without sync and noac")
            yield Unknown(
                "nfs_export",
                site.name,
                "no fact shows whether the server exports it with sync or async; run exportfs -v there. With async the"
                " server answers before data is on its disks: faster, but the data is lost if it crashes (exports(5))",
            )


def udp_transport(scene: Scene) -> Iterator[Finding]:
    code = "nfs_udp"
    for site in _mounts(scene):
        transport = site.facts.get("nfs.transport")
        if transport is None:
            yield Unknown(code, site.name, "the fact nfs.transport is missing")
        elif str(transport).startswith("udp"):
            yield Advice(
                code=code,
                severity=Severity.HIGH,
                subject=site.name,
                title="Mounted over UDP: data may be corrupted silently",
                explanation=(
                    "A request is split into many IP fragments with a 16-bit identifier. On a fast link the identifier"
                    " repeats within seconds, so fragments of different requests may be combined. One lost fragment"
                    " also loses the whole request."
                ),
                evidence=site.evidence("nfs.transport", "network.link_bits_per_second", "nfs.wsize_bytes"),
                remedy="Unmount and mount over TCP.",
                commands=(f"mount -o proto=tcp {site.device or 'SERVER:/EXPORT'} {site.mount_point or 'DIRECTORY'}",),
                source="nfs(5), using NFS over UDP on high-speed links",
            )
        else:
            yield Fine(site.name, f"mounted over {transport}")


def old_version(scene: Scene) -> Iterator[Finding]:
    code = "nfs_old_version"
    for site in _mounts(scene):
        version = str(site.facts.get("nfs.version") or "")
        if not version:
            yield Unknown(code, site.name, "the fact nfs.version is missing")
        elif version in _OLD_VERSIONS:
            yield Advice(
                code=code,
                severity=Severity.MEDIUM if version == "2" else Severity.LOW,
                subject=site.name,
                title=f"NFS version {version}",
                explanation=_OLD_VERSIONS[version],
                evidence=site.evidence("nfs.version", "nfs.connection_count", "nfs.pnfs"),
                remedy="Unmount and mount with the newest version that the server supports.",
                commands=(site.mount_command("vers=4.2"),),
                source="nfs(5), nfsvers and nconnect; RFC 1094, RFC 8881",
            )
        else:
            yield Fine(site.name, f"NFS version {version}")


def _mounts(scene: Scene) -> Iterator[MountedTarget]:
    return (site for site in scene.sites if site.fstype in {"nfs", "nfs4"})
