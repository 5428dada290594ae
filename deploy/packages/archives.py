"""Archives of directory trees, with the same bytes each time."""

import tarfile
from pathlib import Path


def pack(tree: Path, archive: Path, name: str, *, seconds: int) -> None:
    """Write a tar file of a tree below one directory, in the order of the names.

    All belongs to root, and all modification times are `seconds` since 1970.
    """

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = seconds
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as file:
        file.add(tree, name, filter=plain)
