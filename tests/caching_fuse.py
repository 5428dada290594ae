"""A file system behind FUSE that keeps all data in its own memory, as many network clients do with a part of theirs.

Usage: caching_fuse.py MOUNT_POINT

Speaks the kernel's protocol (include/uapi/linux/fuse.h), so no library is needed. Ends when it is unmounted.
"""

import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from subprocess import Popen

from agent.order_rig import eventually
from made_mounts import as_root, run_as_root

FSTYPE = "fuse.iotide-caching"
_ROOT = 1
_HEAD = struct.Struct("<IIQQIIII")
_REPLY = struct.Struct("<IiQ")
_ATTRIBUTES = struct.Struct("<6Q10I")
_MOST_BYTES = 1024**2
_ALWAYS_SECONDS = 3600
_BIG_WRITES, _MAX_PAGES = 1 << 5, 1 << 22
_SET_MODE, _SET_SIZE = 1, 8


class Op(IntEnum):
    LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR = 1, 2, 3, 4, 9, 10, 11
    OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT = 14, 15, 16, 17, 18, 20, 25, 26
    OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, ACCESS, CREATE, BATCH_FORGET = 27, 28, 29, 30, 34, 35, 42


_NOTHING_TO_DO = frozenset({Op.RELEASE, Op.FSYNC, Op.FLUSH, Op.RELEASEDIR, Op.FSYNCDIR, Op.ACCESS})


@dataclass
class Node:
    """A file or a directory, by its own mode."""

    mode: int
    data: bytearray = field(default_factory=bytearray)
    names: dict[bytes, int] = field(default_factory=dict)


class Caching:
    """Answers requests; raises OSError for those that fail."""

    def __init__(self) -> None:
        self._nodes = {_ROOT: Node(stat.S_IFDIR | 0o700)}

    def answer(self, opcode: int, node: int, body: bytes) -> bytes:  # noqa: C901, PLR0911, PLR0912 - a row for each request
        if opcode in _NOTHING_TO_DO:
            return b""
        match opcode:
            case Op.INIT:
                flags = _BIG_WRITES | _MAX_PAGES
                return struct.pack("<4I2H2I2H8I", 7, 31, 0, flags, 16, 12, _MOST_BYTES, 1, 256, 0, *[0] * 8)
            case Op.LOOKUP:
                return self._entry(self._found(node, body[:-1]))
            case Op.GETATTR:
                return struct.pack("<QII", _ALWAYS_SECONDS, 0, 0) + self._attributes(node)
            case Op.SETATTR:
                return self._changed(node, body)
            case Op.MKDIR:
                return self._entry(self._made(node, stat.S_IFDIR | struct.unpack_from("<I", body)[0], body[8:-1]))
            case Op.CREATE:
                made = self._made(node, struct.unpack_from("<II", body)[1], body[16:-1])
                return self._entry(made) + bytes(16)
            case Op.UNLINK | Op.RMDIR:
                return self._removed(node, body[:-1])
            case Op.OPEN | Op.OPENDIR:
                return bytes(16)
            case Op.READ:
                offset, size = struct.unpack_from("<QI", body, 8)
                return bytes(self._nodes[node].data[offset : offset + size])
            case Op.WRITE:
                return self._written(node, body)
            case Op.STATFS:
                return struct.pack("<5Q10I", 2**17, 2**17, 2**17, 2**20, 2**20, 4096, 255, 4096, *[0] * 7)
            case Op.READDIR:
                return self._listed(node, *struct.unpack_from("<QI", body, 8))
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    def _found(self, parent: int, name: bytes) -> int:
        if name not in self._nodes[parent].names:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return self._nodes[parent].names[name]

    def _made(self, parent: int, mode: int, name: bytes) -> int:
        number = max(self._nodes) + 1
        self._nodes[number] = Node(mode)
        self._nodes[parent].names[name] = number
        return number

    def _removed(self, parent: int, name: bytes) -> bytes:
        if self._nodes[self._found(parent, name)].names:
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
        self._nodes[parent].names.pop(name)
        return b""

    def _changed(self, number: int, body: bytes) -> bytes:
        valid, _, _, size = struct.unpack_from("<IIQQ", body)
        node = self._nodes[number]
        if valid & _SET_MODE:
            node.mode = struct.unpack_from("<I", body, 68)[0]
        if valid & _SET_SIZE:
            node.data = node.data[:size] + bytes(max(0, size - len(node.data)))
        return struct.pack("<QII", _ALWAYS_SECONDS, 0, 0) + self._attributes(number)

    def _written(self, number: int, body: bytes) -> bytes:
        offset, size = struct.unpack_from("<QI", body, 8)
        data = self._nodes[number].data
        data.extend(bytes(max(0, offset - len(data))))
        data[offset : offset + size] = body[40 : 40 + size]
        return struct.pack("<II", size, 0)

    def _listed(self, number: int, offset: int, size: int) -> bytes:
        found = b""
        for position, (name, node) in enumerate(list(self._nodes[number].names.items())[offset:], offset + 1):
            kind = stat.S_IFMT(self._nodes[node].mode) >> 12
            row = struct.pack("<QQII", node, position, len(name), kind) + name
            row += bytes(-len(row) % 8)
            if len(found) + len(row) > size:
                break
            found += row
        return found

    def _entry(self, number: int) -> bytes:
        return struct.pack("<4QII", number, 0, _ALWAYS_SECONDS, _ALWAYS_SECONDS, 0, 0) + self._attributes(number)

    def _attributes(self, number: int) -> bytes:
        node = self._nodes[number]
        size, links = len(node.data), 2 if stat.S_ISDIR(node.mode) else 1
        blocks = -(-size // 512)
        return _ATTRIBUTES.pack(number, size, blocks, 0, 0, 0, 0, 0, 0, node.mode, links, 0, 0, 0, 4096, 0)


def serve(point: str) -> None:
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"caching", point.encode(), FSTYPE.encode(), 0, options) != 0:
        raise OSError(ctypes.get_errno(), f"mount {point}")
    caching = Caching()
    while True:
        try:
            request = os.read(device, _MOST_BYTES + 4096)
        except OSError as error:
            if error.errno == errno.ENODEV:  # unmounted
                return
            raise
        _, opcode, unique, node, *_ = _HEAD.unpack_from(request)
        if opcode in {Op.FORGET, Op.BATCH_FORGET}:
            continue
        try:
            said, status = caching.answer(opcode, node, request[_HEAD.size :]), 0
        except OSError as error:
            said, status = b"", -(error.errno or errno.EIO)
        os.write(device, _REPLY.pack(_REPLY.size + len(said), status, unique) + said)


@contextmanager
def caching_mount(point: Path) -> Iterator[None]:
    """Mount one at a new directory `point`."""
    point.mkdir(mode=0o700)
    with Popen(as_root(sys.executable, __file__, point)) as server:
        eventually(lambda: point.is_mount() or server.poll() is not None)
        try:
            yield
        finally:
            run_as_root("umount", point)


if __name__ == "__main__":
    serve(sys.argv[1])
