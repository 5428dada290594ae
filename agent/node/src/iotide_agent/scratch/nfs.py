"""Files that NFS clients hold open through the kernel's server. They keep a mount busy after its export has ended."""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from iotide_agent.runner.files import closing
from iotide_agent.runner.mounts import mount_id_of
from iotide_agent.scratch.namespaces import ProcessMount

_CONTROL: Final = Path("/proc/fs/nfsd")
_SUPERBLOCK: Final = re.compile(r'superblock: "([0-9a-f]+:[0-9a-f]+):')
_ADDRESS: Final = re.compile(r'^address: "([^"]*)"', re.MULTILINE)
_EXPIRE: Final = b"expire\n"
"""Has the server drop all that a client holds; nfsd_client_ctl of Linux 5.3 takes exactly these bytes."""


def clients_of(number: str) -> list[str]:
    """Return the addresses of clients with open files, locks or delegations on a file system, by its device number."""
    own = _superblock(number)
    return sorted({_address(client) for client in _clients() if own in _held(client)})


def release(mount: ProcessMount) -> None:
    """Have the server drop locks on a file system, and all that clients hold who use no other one.

    Others keep their files: the server cannot take them from a part of a client. Linux before 6.9 has no better way.
    """
    own = _superblock(mount.number)
    with suppress(OSError):
        if _is_on_top(mount):
            _write(_CONTROL / "unlock_fs", mount.path.encode(errors="surrogateescape"))
    for client in _clients():
        if _held(client) == {own}:
            with suppress(OSError):
                _write(client / "ctl", _EXPIRE)


def _is_on_top(mount: ProcessMount) -> bool:
    """Return whether the path leads to this mount: the kernel takes a path, where others may have mounted over it."""
    descriptor = os.open(mount.path, os.O_PATH | os.O_CLOEXEC)
    with closing(descriptor):
        return mount_id_of(descriptor) == mount.id


def _clients() -> list[Path]:
    return sorted((_CONTROL / "clients").glob("*"))


def _held(client: Path) -> set[str]:
    """Return the file systems of a client's files, as the kernel writes their device numbers."""
    try:
        return set(_SUPERBLOCK.findall((client / "states").read_text(errors="replace")))
    except OSError:
        return set()


def _address(client: Path) -> str:
    try:
        found = _ADDRESS.search((client / "info").read_text(errors="replace"))
    except OSError:
        found = None
    address, _, port = found[1].rpartition(":") if found else ("", "", "")
    return address if port.isdigit() and address else "unknown"


def _superblock(number: str) -> str:
    major, _, minor = number.partition(":")
    return f"{int(major):02x}:{int(minor):02x}"


def _write(file: Path, data: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    with closing(descriptor):
        os.write(descriptor, data)
